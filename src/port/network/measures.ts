import { weightedLength } from './weighted-length.ts'

/** The measures of all networks by name, because a function cannot be sent to a worker. */
export const measures = { weighted: weightedLength }
