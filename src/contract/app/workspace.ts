import { Type as T } from '@sinclair/typebox'
import { op } from '../op.ts'
import { Id, record, Time } from '../shapes.ts'

const Workspace = record(
  {
    id: Id,
    name: T.String(),
    plan: T.String({ description: 'What it may spend is at app.plan.' }),
    created_at: Time,
  },
  { title: 'Workspace' },
)

const answer = record({ workspace: Workspace })

export const workspace = {
  get: op('GET /api/v1/app/workspace', 'Read the workspace.', { input: {}, output: answer }, { scope: 'session' }),
  rename: op(
    'PUT /api/v1/app/workspace',
    'Rename the workspace. Nothing else depends on the name.',
    { input: { name: T.String({ minLength: 1, maxLength: 160, pattern: '\\S', examples: ['Dockside'] }) }, output: answer },
    { scope: 'session', repeatable: true },
  ),
}
