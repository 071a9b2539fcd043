import type { Parameters } from 'fast-check'

/** How a property is run: as often as it usually is, unless RUNS says otherwise; SEED repeats a run that failed. */
export const runs = (usual: number): Parameters<unknown> => ({
  numRuns: Number(process.env.RUNS || usual),
  ...(process.env.SEED ? { seed: Number(process.env.SEED) } : {}),
})
