import { partsOf } from '#domain/agent/channel/forms/parts'

/**
 * What is made of texts that strangers or models wrote, as pure functions of data. Each is linear
 * in the length of its text.
 */
export const textComputations = { partsOf }

export type TextComputations = typeof textComputations
