import { Type as T } from '@sinclair/typebox'

/** At least an item's mark. */
export const ExpectHash = T.String({
  pattern: '^[0-9a-f]{8,64}$',
  examples: ['0c2cce39'],
  description: 'The content_hash that you saw, or its first digits: 409 if the text is another one.',
})
