/** The caller for whom the agent acts, as records keep it. */
import { type Static, Type as T } from '@sinclair/typebox'
import { nullable, oneOf, record } from '../../shapes.ts'

export const OnBehalfSchema = record({
  kind: oneOf(['key', 'session', 'channel']),
  // Of a key. A session is followed to its person, who may have signed out since. Of a channel: the
  // identity of a linked sender, and the connection for a stranger, who is no person here.
  id: T.String(),
  personId: nullable(T.String()),
})

export type Caller = Static<typeof OnBehalfSchema>
