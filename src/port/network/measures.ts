import { weightedLength } from './weighted-length.ts'

/** The measures of all networks by names, for a function cannot be sent to a worker. */
export const measures = { weighted: weightedLength }
