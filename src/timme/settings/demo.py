"""Built-in examples, by name."""

DEMOS = {  # what each is; the first is shown to whoever names none
    "barnase": "the paper's protein, simulated for 0.5 ns, beside its rigid clusters",
    "chain": "the paper's 10,000 freely jointed links, theory dashed",
    "hinge": "three rigid bodies in a row, joined by hinges",
    "water": "the paper's drop of 1000 molecules, 9 ps of its simulation",
    "spheres": "991 spheres that stick: an arrested network among mobile ones",
    "fluid": "991 spheres that crowd one another: a dense fluid, for comparison",
    "crowd": "sixty people who cross a square, some in parties",
    "road": "cars on a ring road, most of them in platoons",
}
