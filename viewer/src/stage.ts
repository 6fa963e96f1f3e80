// NGL's stage: made for the page, with its mouse and without its own picking and keys.

import * as NGL from "ngl";

/** A stage in an element; what lies in a plane is moved, not turned. */
export function makeStage(element: HTMLElement, flat: boolean): NGL.Stage {
  requireGraphics();
  const stage = new NGL.Stage(element, {
    cameraType: "perspective", // of a plane, seen from above, the same as any other
    hoverTimeout: -1,
    tooltip: false,
    clipNear: 0,
    fogNear: 60,
    fogFar: 130,
    ambientIntensity: 0.35,
  } as Partial<NGL.StageParameters>);
  if (drawnBySoftware(stage)) stage.setParameters({ sampleLevel: -1 });
  stage.pickingBehavior.dispose(); // we pick by ourselves, without drawing once more
  const mouse = stage.mouseControls;
  mouse.clear();
  mouse.add("scroll", NGL.MouseActions.zoomScroll);
  mouse.add("drag-left", flat ? NGL.MouseActions.panDrag : NGL.MouseActions.rotateDrag);
  mouse.add("drag-right", NGL.MouseActions.panDrag);
  mouse.add("drag-middle", NGL.MouseActions.zoomDrag);
  mouse.add("drag-shift-left", NGL.MouseActions.panDrag);
  mouse.add("drag-left+right", NGL.MouseActions.zoomDrag);
  stage.keyControls.clear();
  return stage;
}

/** End all that a stage does, and give its context back: a browser has but a few for all views. */
export function endStage(stage: NGL.Stage): void {
  const { renderer } = stage.viewer;
  stage.removeAllComponents();
  stage.dispose();
  renderer.forceContextLoss();
  renderer.domElement.remove();
}

/** Refuse a browser that cannot draw, before NGL would say so as markup, which a strict policy forbids. */
function requireGraphics(): void {
  const canvas = document.createElement("canvas");
  const context = canvas.getContext("webgl2") ?? canvas.getContext("webgl");
  if (!context) throw new Error("this browser shows no three-dimensional graphics (WebGL)");
  context.getExtension("WEBGL_lose_context")?.loseContext();
}

/** Without a graphics card every picture takes long: it is then drawn once only, not smoothed. */
function drawnBySoftware(stage: NGL.Stage): boolean {
  const context = stage.viewer.renderer.getContext() as WebGLRenderingContext;
  const known = context.getExtension("WEBGL_debug_renderer_info");
  const name = String(context.getParameter(known ? known.UNMASKED_RENDERER_WEBGL : context.RENDERER));
  return /swiftshader|llvmpipe|software/i.test(name);
}
