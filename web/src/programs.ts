// What computes the worlds of a run: a program in Go and its worlds translated to C, of which there is one pair for each
// module of worlds (internal/worlds/table.go). A page fetches the one that its run needs.

import modules from "#worlds/modules.json";
import { fetchProgram } from "./load.ts";

/** The names of the modules, in the order that Go programs count them in. */
export const moduleNames: readonly string[] = Object.keys(modules);

/** moduleOf names the module that has an environment. One of somebody's own is in none: it is in the first program, if anywhere. */
export function moduleOf(env: string): string {
  return Object.entries<string[]>(modules).find(([, ids]) => ids.includes(env))?.[0] ?? moduleNames[0]!;
}

/** The addresses of a pair. */
export interface ProgramFiles {
  compute: string;
  worlds: string;
}

/** A pair, compiled. */
export interface Program {
  /** The name of its module. */
  name: string;
  compute: WebAssembly.Module;
  /** null: it is not to be had, so that worlds are played in Go. */
  worlds: WebAssembly.Module | null;
}

/** Programs fetches each pair once. */
export class Programs {
  private readonly fetched = new Map<string, Promise<Program>>();

  /** kept: the service worker has the files. */
  constructor(
    private readonly files: Record<string, ProgramFiles>,
    private readonly kept: boolean,
  ) {}

  /** of returns what computes an environment. After a failure it may be called again. */
  of(env: string): Promise<Program> {
    const name = moduleOf(env);
    let program = this.fetched.get(name);
    if (program === undefined) {
      program = this.fetch(name);
      program.catch(() => this.fetched.delete(name));
      this.fetched.set(name, program);
    }
    return program;
  }

  private async fetch(name: string): Promise<Program> {
    const files = this.files[name];
    if (files === undefined) throw new Error(`this page has no program for the worlds of ${name}; reload it`);
    const none = (): void => undefined;
    const worlds = fetchProgram(files.worlds, this.kept, none).catch(() => null); // a browser without SIMD cannot compile them
    return { name, compute: await fetchProgram(files.compute, this.kept, none), worlds: await worlds };
  }
}
