// Draws a scene in space with WebGL, on a canvas of its own that is nowhere in the document.

import {
  BoxGeometry, BufferAttribute, CylinderGeometry, DoubleSide, DynamicDrawUsage, GLSL3, InstancedBufferGeometry, InstancedInterleavedBuffer,
  InterleavedBufferAttribute, Mesh, NotEqualStencilFunc, PerspectiveCamera, PlaneGeometry, RawShaderMaterial, ReplaceStencilOp, Scene as Stage,
  Vector2, Vector3, WebGLRenderer, type BufferGeometry,
} from "three";
import { bright, dim, fadeFrom, fadeTo, lensOf, length, lineWidth, minus, perpendicular, plus, shadow, times, triple, unit, type Color, type Vector } from "./lens.ts";
import type { Role, Scene, Shape } from "./types/compute";

/** What a canvas is asked for. A browser that would compute the picture without a GPU refuses: outlines cost less then. */
const wanted: WebGLContextAttributes = { alpha: true, antialias: true, depth: true, stencil: true, powerPreference: "low-power", failIfMajorPerformanceCaveat: true };

/** Attributes of a solid: three half axes and half of its length, its center, its color. */
const perSolid = ["u", "v", "w", "axis", "center", "tint"] as const;
const floats = 3 * perSolid.length;

const solidVertex = `
precision highp float;
uniform mat4 viewMatrix, projectionMatrix;
in vec3 position, normal, u, v, w, axis, center, tint;
in float end;
out vec3 upright, color;
void main() {
  vec3 at = center + u * position.x + v * position.y + w * position.z + axis * end;
  upright = u * normal.x + v * normal.y + w * normal.z;
  color = tint;
  gl_Position = projectionMatrix * viewMatrix * vec4(at, 1.0);
}`;

const solidFragment = `
precision highp float;
uniform vec3 light;
in vec3 upright, color;
out vec4 pixel;
void main() {
  float cosine = dot(normalize(upright), light);
  pixel = vec4(cosine > 0.0 ? mix(color, vec3(1.0), ${bright} * cosine) : color * (1.0 + ${dim} * cosine), 1.0);
}`;

const shadowVertex = `
precision highp float;
uniform mat4 viewMatrix, projectionMatrix;
uniform vec3 light;
uniform float level;
in vec3 position, u, v, w, axis, center;
in float end;
out vec2 place;
void main() {
  vec3 at = center + u * position.x + v * position.y + w * position.z + axis * end;
  at -= light * (max(at.z - level, 0.0) / light.z);
  place = at.xy;
  gl_Position = projectionMatrix * viewMatrix * vec4(at.xy, level, 1.0);
}`;

const faded = `
uniform vec2 fade;
float left(vec2 place) { return 1.0 - smoothstep(fade.x, fade.y, length(place)); }`;

const shadowFragment = `
precision highp float;${faded}
in vec2 place;
out vec4 pixel;
void main() { pixel = vec4(0.0, 0.0, 0.0, ${shadow} * left(place)); }`;

const floorVertex = `
precision highp float;
uniform mat4 viewMatrix, projectionMatrix;
uniform vec2 fade;
uniform float level;
in vec3 position;
out vec2 place;
void main() {
  place = position.xy * fade.y;
  gl_Position = projectionMatrix * viewMatrix * vec4(place, level, 1.0);
}`;

const floorFragment = `
precision highp float;${faded}
uniform vec3 fill, stroke;
uniform vec2 origin;
uniform float cell;
in vec2 place;
out vec4 pixel;
void main() {
  float lines = 0.0;
  if (cell > 0.0) {
    vec2 at = place - origin;
    vec2 wide = max(fwidth(at), 1e-9);
    at -= cell * floor(at / cell + 0.5);
    float half_ = ${lineWidth / 2} * cell;
    vec2 part = max(min(at + wide / 2.0, half_) - max(at - wide / 2.0, -half_), 0.0) / wide;
    part = mix(part, vec2(${lineWidth}), step(vec2(cell), wide));
    lines = 1.0 - (1.0 - part.x) * (1.0 - part.y);
  }
  float alpha = left(place);
  pixel = vec4(mix(fill, stroke, lines) * alpha, alpha);
}`;

/** pill is a ball whose upper half has end 1 and whose lower half has -1: pulled apart, it is a capsule. */
function pill(around = 24, rings = 8): BufferGeometry {
  const positions: number[] = [];
  const ends: number[] = [];
  const index: number[] = [];
  for (const end of [1, -1]) {
    for (let i = 0; i <= rings; i++) {
      const tilt = ((end === 1 ? rings - i : i) / rings) * (Math.PI / 2);
      for (let j = 0; j <= around; j++) {
        const turn = (2 * Math.PI * j) / around;
        positions.push(Math.cos(tilt) * Math.cos(turn), Math.cos(tilt) * Math.sin(turn), end * Math.sin(tilt));
        ends.push(end);
      }
    }
  }
  for (let i = 0; i < 2 * rings + 1; i++) {
    for (let j = 0; j < around; j++) {
      const [a, b] = [i * (around + 1) + j, (i + 1) * (around + 1) + j];
      index.push(a, b, a + 1, b, b + 1, a + 1);
    }
  }
  const geometry = new InstancedBufferGeometry();
  geometry.setIndex(index);
  geometry.setAttribute("position", new BufferAttribute(new Float32Array(positions), 3));
  geometry.setAttribute("normal", new BufferAttribute(new Float32Array(positions), 3));
  geometry.setAttribute("end", new BufferAttribute(new Float32Array(ends), 1));
  return geometry;
}

/** Solids of one form, which are drawn at once, and their shadows. */
class Batch {
  readonly meshes: Mesh[];
  private geometry: InstancedBufferGeometry;
  private data = new InstancedInterleavedBuffer(new Float32Array(0), floats);
  private used = 0;

  constructor(
    private readonly form: BufferGeometry,
    solid: RawShaderMaterial,
    shade: RawShaderMaterial,
  ) {
    this.geometry = this.grown(16);
    this.meshes = [solid, shade].map((material) => {
      const mesh = new Mesh(this.geometry, material);
      mesh.frustumCulled = false;
      return mesh;
    });
  }

  clear(): void {
    this.used = 0;
  }

  add(...vectors: [u: Vector, v: Vector, w: Vector, axis: Vector, center: Vector, tint: Color]): void {
    if (this.used === this.data.count) {
      const [{ array }, old] = [this.data, this.geometry];
      this.geometry = this.grown(2 * this.used);
      this.data.array.set(array);
      for (const mesh of this.meshes) mesh.geometry = this.geometry;
      old.dispose();
    }
    vectors.forEach((vector, i) => this.data.array.set(vector, this.used * floats + 3 * i));
    this.used++;
  }

  /** Sends what was added to the GPU. */
  send(): void {
    this.geometry.instanceCount = this.used;
    for (const mesh of this.meshes) mesh.visible &&= this.used > 0;
    this.data.needsUpdate = true;
  }

  dispose(): void {
    this.geometry.dispose();
    this.form.dispose();
  }

  /** grown is the form with room for n solids. */
  private grown(n: number): InstancedBufferGeometry {
    const geometry = new InstancedBufferGeometry();
    geometry.index = this.form.index;
    const { position, normal, end } = this.form.attributes;
    geometry.setAttribute("position", position!);
    geometry.setAttribute("normal", normal!);
    geometry.setAttribute("end", end ?? new BufferAttribute(new Float32Array(position!.count), 1));
    this.data = new InstancedInterleavedBuffer(new Float32Array(n * floats), floats);
    this.data.setUsage(DynamicDrawUsage);
    perSolid.forEach((name, i) => geometry.setAttribute(name, new InterleavedBufferAttribute(this.data, 3, 3 * i)));
    return geometry;
  }
}

/** The graphics of one drawing. */
export class Graphics {
  readonly canvas: HTMLCanvasElement;
  private readonly renderer: WebGLRenderer;
  private readonly stage = new Stage();
  private readonly camera = new PerspectiveCamera();
  private readonly light = { value: new Vector3() };
  private readonly level = { value: 0 };
  private readonly fade = { value: new Vector2() };
  private readonly ground = { fill: { value: new Vector3() }, stroke: { value: new Vector3() }, origin: { value: new Vector2() }, cell: { value: 0 } };
  private readonly floor: Mesh;
  private readonly pills: Batch;
  private readonly tubes: Batch;
  private readonly boxes: Batch;

  private constructor(canvas: HTMLCanvasElement, context: WebGL2RenderingContext) {
    this.canvas = canvas;
    this.renderer = new WebGLRenderer({ canvas, context, antialias: true, alpha: true, stencil: true });
    this.renderer.setClearColor(0, 0);
    const { light, level, fade } = this;
    const floor = this.material(floorVertex, floorFragment, { level, fade, ...this.ground });
    floor.transparent = floor.premultipliedAlpha = true;
    floor.side = DoubleSide;
    this.floor = new Mesh(new PlaneGeometry(2, 2), floor);
    const solid = this.material(solidVertex, solidFragment, { light });
    const shade = this.material(shadowVertex, shadowFragment, { light, level, fade });
    shade.transparent = true;
    shade.depthWrite = false;
    shade.side = DoubleSide;
    shade.polygonOffset = true;
    shade.polygonOffsetFactor = shade.polygonOffsetUnits = -4;
    shade.stencilWrite = true; // where two shadows fall it is no darker
    shade.stencilRef = 1;
    shade.stencilFunc = NotEqualStencilFunc;
    shade.stencilZPass = ReplaceStencilOp;
    this.pills = new Batch(pill(), solid, shade);
    this.tubes = new Batch(new CylinderGeometry(1, 1, 2, 32).rotateX(Math.PI / 2), solid, shade);
    this.boxes = new Batch(new BoxGeometry(2, 2, 2), solid, shade);
    this.stage.add(this.floor);
    this.floor.frustumCulled = false;
    for (const { meshes } of this.batches) {
      meshes[1]!.renderOrder = 1; // after the floor
      this.stage.add(...meshes);
    }
  }

  /** open returns null where there is no WebGL, or no GPU behind it. */
  static open(): Graphics | null {
    const canvas = document.createElement("canvas");
    const context = canvas.getContext("webgl2", wanted);
    if (!context || context.isContextLost()) return null;
    try {
      return new Graphics(canvas, context);
    } catch {
      return null; // a driver that does less than it says
    }
  }

  /** lost reports whether the browser took the GPU away. It may give it back. */
  get lost(): boolean {
    return this.renderer.getContext().isContextLost();
  }

  /** draw draws the scene, which has a camera, in width x height pixels of the canvas. */
  draw(scene: Scene, width: number, height: number, colors: ReadonlyMap<Role, Color>): void {
    if (this.canvas.width !== width || this.canvas.height !== height) this.renderer.setSize(width, height, false);
    this.aim(scene, width / height);
    for (const batch of this.batches) batch.clear();
    const floor = scene.shapes?.find((shape) => shape.kind === "floor");
    for (const shape of scene.shapes ?? []) if (shape !== floor) this.add(shape, scene.camera!.target, colors);
    this.lay(floor, scene.camera!.target, colors);
    for (const batch of this.batches) batch.send();
    this.renderer.render(this.stage, this.camera);
  }

  dispose(): void {
    for (const batch of this.batches) batch.dispose();
    this.floor.geometry.dispose();
    this.stage.traverse((object) => object instanceof Mesh && (object.material as RawShaderMaterial).dispose());
    this.renderer.dispose();
    this.renderer.forceContextLoss(); // browsers keep few contexts, and close the oldest
  }

  private get batches(): Batch[] {
    return [this.pills, this.tubes, this.boxes];
  }

  private material(vertexShader: string, fragmentShader: string, uniforms: RawShaderMaterial["uniforms"]): RawShaderMaterial {
    return new RawShaderMaterial({ vertexShader, fragmentShader, uniforms, glslVersion: GLSL3 });
  }

  /** aim puts the camera into place. Its target is the origin, so that far from that of the world nothing trembles. */
  private aim(scene: Scene, ratio: number): void {
    const { distance } = scene.camera!;
    const lens = lensOf(scene.camera!);
    const { camera } = this;
    camera.aspect = ratio;
    camera.fov = (2 * Math.atan(Math.tan(Math.PI / 8) / Math.min(ratio, 1)) * 180) / Math.PI;
    camera.near = 0.02 * distance;
    camera.far = 40 * distance;
    camera.updateProjectionMatrix();
    camera.up.set(...lens.over);
    camera.position.set(...times(lens.forth, -distance));
    camera.lookAt(0, 0, 0);
    this.light.value.set(...lens.light);
    this.fade.value.set(fadeFrom * distance, fadeTo * distance);
  }

  private lay(floor: Shape | undefined, target: Vector, colors: ReadonlyMap<Role, Color>): void {
    this.floor.visible = floor !== undefined;
    for (const { meshes } of this.batches) [meshes[0]!.visible, meshes[1]!.visible] = [true, floor !== undefined];
    if (!floor) return;
    const at = minus(triple(floor, 0), target);
    const cell = (this.ground.cell.value = floor.stroke ? floor.width ?? 0 : 0);
    this.level.value = at[2];
    this.ground.origin.value.set(cell ? at[0] % cell : 0, cell ? at[1] % cell : 0);
    this.ground.fill.value.set(...colors.get(floor.fill ?? "terrain")!);
    this.ground.stroke.value.set(...colors.get(floor.stroke ?? "ground")!);
  }

  private add(shape: Shape, target: Vector, colors: ReadonlyMap<Role, Color>): void {
    const tint = colors.get(shape.fill ?? "body")!;
    const radius = shape.radius ?? 0;
    const a = minus(triple(shape, 0), target);
    if (shape.kind === "box") return this.boxes.add(triple(shape, 1), triple(shape, 2), triple(shape, 3), [0, 0, 0], a, tint);
    if (shape.kind === "sphere") return this.pills.add([radius, 0, 0], [0, radius, 0], [0, 0, radius], [0, 0, 0], a, tint);
    const b = minus(triple(shape, 1), target);
    const half = times(minus(b, a), 0.5);
    const direction: Vector = length(half) > 0 ? unit(half) : [0, 0, 1];
    const [u, v] = perpendicular(direction).map((side) => times(side, radius)) as [Vector, Vector];
    const center = plus(a, half);
    if (shape.kind === "cylinder") return this.tubes.add(u, v, half, [0, 0, 0], center, tint);
    this.pills.add(u, v, times(direction, radius), half, center, tint);
  }
}
