import { Type as T } from '@sinclair/typebox'
import { everybody, nextCursor, shortPage, use } from '../agent-fields.ts'
import { op } from '../op.ts'
import { channelIdentityRecord } from '../records/agent/channel-connection.ts'
import { Id, record, Time } from '../shapes.ts'

const ChannelIdentity = channelIdentityRecord.schema

const identityId = T.String({ format: 'uuid', description: 'The id of the identity.' })

export const channelIdentities = {
  linkCode: op.command(
    'POST /api/v1/channels/:id/link-code',
    'Get a code that links you to a sender: whoever sends it to the channel within 15 minutes is taken for you there from then on. By email and SMS, where senders can be forged, a second code is sent back to the sender, and the link begins once it has come from there as well. A code works once, and ends your last one for this channel. Requires a signed-in person.',
    {
      input: { id: Id },
      output: record({
        code: T.String({
          description: 'Send it as a message to the channel. Show it to nobody.',
          examples: ['BCDF-GHJK'],
        }),
        expiresAt: Time,
        steps: T.Array(T.String(), { description: 'What to do with the code.' }),
      }),
    },
    {
      scope: 'session',
      ...everybody,
      cap: 'link_code',
      status: 201,
      errors: ['not_found'],
      secret: true,
    },
  ),
  list: op.query(
    'GET /api/v1/channels/:id/identities',
    'List the senders of a channel who are linked to members, newest first.',
    {
      input: { id: Id, ...shortPage },
      output: record({ identities: T.Array(ChannelIdentity), ...nextCursor }),
    },
    { ...use, ...everybody, errors: ['not_found'] },
  ),
  remove: op.command(
    'DELETE /api/v1/channels/:id/identities/:identityId',
    'End the link of a sender. What it writes from then on is that of a stranger, its unfinished jobs end, and its schedules and webhook rules stop. Members can end their own, owners and approvers any.',
    { input: { id: Id, identityId }, output: record({ identity: ChannelIdentity }) },
    { ...use, ...everybody, errors: ['not_found'] },
  ),
}
