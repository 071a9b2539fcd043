import type { Parameters } from 'fast-check'

/** The parameters of a property: RUNS overrides how often it runs, SEED repeats a failed run. */
export const runs = (usual: number): Parameters<unknown> => ({
  numRuns: Number(process.env.RUNS || usual),
  ...(process.env.SEED ? { seed: Number(process.env.SEED) } : {}),
})
