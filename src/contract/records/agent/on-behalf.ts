/** The caller for whom the agent acts, as records keep it. */
import { type Static, Type as T } from '@sinclair/typebox'
import { nullable, oneOf, record } from '../../shapes.ts'

export const OnBehalfSchema = record({
  kind: oneOf(['key', 'session', 'channel']),
  // The id of a key, or of the person whose session it is, which may have ended since. For a
  // channel, the identity of a linked sender, or the connection for a stranger, who is not a person
  // here.
  id: T.String(),
  personId: nullable(T.String()),
})

export type Caller = Static<typeof OnBehalfSchema>
