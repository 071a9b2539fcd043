import { partsOf } from '#domain/agent/channel/forms/parts'

/**
 * What is computed from texts that strangers or models wrote, as pure functions of data. Each takes
 * time linear in the length of its text.
 */
export const textComputations = { partsOf }

export type TextComputations = typeof textComputations
