import { Type as T } from '@sinclair/typebox'
import { scopes } from '#kernel/scopes'
import { op } from '../op.ts'
import { keyRecord } from '../records/app/key.ts'
import { Id, NextCursor, NOT_BLANK, oneOf, page, record, Time } from '../shapes.ts'

const KeyScopes = T.Array(oneOf(scopes), {
  minItems: 1,
  maxItems: scopes.length,
  description: 'workspace:use opens the workspace agent. Request it only if you use it.',
})

const Key = keyRecord.schema

export const keys = {
  create: op.command(
    'POST /api/v1/app/keys',
    'Create an API key. Returns the key once. Your own key can never do more than you can, and ends with your membership. A workspace key outlives memberships, and only owners can create one. To replace a key, create another, switch to it, then revoke the first. In a command-line session, a key that lives longer than 30 days requires a password given in the last 10 minutes: app.session.confirm.',
    {
      input: {
        name: T.String({
          minLength: 1,
          maxLength: 160,
          format: 'name',
          pattern: NOT_BLANK,
          examples: ['Release script'],
        }),
        scopes: KeyScopes,
        belongs_to: T.Optional(
          oneOf(['me', 'workspace'], { default: 'me', description: 'The owner of the key.' }),
        ),
        expires_at: T.Optional(Time),
      },
      output: record({
        key: Key,
        api_key: T.String({ description: 'The key. Shown once; only its hash is stored.' }),
      }),
    },
    {
      scope: 'session',
      roles: ['editor', 'approver', 'viewer'],
      status: 201,
      errors: ['conflict', 'reauthentication_required'],
      secret: true,
    },
  ),
  list: op.query(
    'GET /api/v1/app/keys',
    'List API keys, including ended ones. Owners see every key of the workspace, other members their own.',
    { input: page, output: record({ keys: T.Array(Key), next_cursor: NextCursor }) },
    { scope: 'session' },
  ),
  revoke: op.command(
    'DELETE /api/v1/app/keys/:id',
    'Revoke an API key. It stops working with the next request, permanently. Owners can revoke any key, other members their own.',
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
