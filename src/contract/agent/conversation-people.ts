/** Who sees a private conversation in addition to the person who began it. */
import { everybody } from '../agent-fields.ts'
import { op } from '../op.ts'
import { Id } from '../shapes.ts'
import { OneConversation } from './conversations.ts'

export const conversationPeople = {
  add: op.command(
    'PUT /api/v1/agent/conversations/:id/people/:personId',
    'Let a member see a private conversation, with all that was said in it before. Requires the person who began it, signed in.',
    { input: { id: Id, personId: Id }, output: OneConversation },
    { scope: 'session', ...everybody, errors: ['not_found', 'conflict'], repeatable: true },
  ),
  remove: op.command(
    'DELETE /api/v1/agent/conversations/:id/people/:personId',
    'Take a member out of a private conversation. Requires the person who began it, or the one who leaves, signed in.',
    { input: { id: Id, personId: Id }, output: OneConversation },
    { scope: 'session', ...everybody, errors: ['not_found'], repeatable: true },
  ),
}
