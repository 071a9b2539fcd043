import { Type as T } from '@sinclair/typebox'
import { scopes } from '#kernel/scopes'
import { op } from '../op.ts'
import { Id, NextCursor, NOT_BLANK, nullable, oneOf, page, record, Time } from '../shapes.ts'

const KeyScopes = T.Array(oneOf(scopes), {
  minItems: 1,
  maxItems: scopes.length,
  description: 'workspace:use opens the workspace agent; ask for it only where it is used.',
})

const Key = record(
  {
    id: Id,
    name: T.String(),
    last4: T.String({ description: 'How the key ends.' }),
    scopes: T.Array(oneOf(scopes)),
    person: nullable(record({ id: Id, email: nullable(T.String({ description: 'null once this person is no member any more.' })) })),
    created_at: Time,
    expires_at: nullable(Time),
    revoked_at: nullable(Time),
    last_used_at: nullable(Time),
  },
  { title: 'ApiKey', description: 'person: whose it is; null for a key of the workspace.' },
)

export const keys = {
  create: op(
    'POST /api/v1/app/keys',
    'Make an API key. The answer shows it, once. A key of yours may no more than you may, at every use, and ends with your membership; a key of the workspace stays when people go, and owners alone make one. To replace a key, make another, move over, then revoke the first: both work meanwhile. In a session of the command line, a key that lives longer than 30 days takes the password again after 10 minutes: app.session.confirm.',
    {
      input: {
        name: T.String({ minLength: 1, maxLength: 160, format: 'name', pattern: NOT_BLANK, examples: ['Release script'] }),
        scopes: KeyScopes,
        belongs_to: T.Optional(oneOf(['me', 'workspace'], { default: 'me', description: 'Whose the key is.' })),
        expires_at: T.Optional(Time),
      },
      output: record({ key: Key, api_key: T.String({ description: 'Shown once: only its hash is kept.' }) }),
    },
    {
      scope: 'session',
      roles: ['editor', 'approver', 'viewer'],
      status: 201,
      errors: ['conflict', 'reauthentication_required'],
      secret: true,
    },
  ),
  list: op(
    'GET /api/v1/app/keys',
    'List API keys, those that have ended too. Owners see all of the workspace, the others their own.',
    { input: page, output: record({ keys: T.Array(Key), next_cursor: NextCursor }) },
    { scope: 'session' },
  ),
  revoke: op(
    'DELETE /api/v1/app/keys/:id',
    'Revoke an API key. It is refused from the next request on, for good. Owners revoke any, the others their own.',
    { input: { id: Id }, output: record({ key: Key }) },
    {
      scope: 'session',
      roles: ['editor', 'approver', 'viewer'],
      errors: ['not_found'],
      destructive: true,
      repeatable: true,
    },
  ),
}
