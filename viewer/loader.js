(async () => {
  const host = document.getElementById("timme");
  if (!("DecompressionStream" in window)) {
    host.textContent = "This page needs a browser of 2023 or later (Chrome 110, Firefox 121, Safari 16.4).";
    return;
  }
  const packed = document.getElementById("timme-script").textContent;
  const bytes = Uint8Array.from(atob(packed), (letter) => letter.charCodeAt(0));
  const plain = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  const script = document.createElement("script");
  script.textContent = await new Response(plain).text();
  document.head.append(script);
})();
