import { graphemeLength } from '#domain/growth/length/grapheme-length'
import { weightedLength } from '#domain/growth/length/weighted-length'

/** The measures of all networks by name, because a function cannot be sent to a worker. */
export const measures = { weighted: weightedLength, graphemes: graphemeLength }
