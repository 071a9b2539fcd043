import { Type as T } from '@sinclair/typebox'
import { everybody, nextCursor, shortPage, use } from '../agent-fields.ts'
import { op } from '../op.ts'
import { memoryRecord, memoryScopes } from '../records/agent/memory.ts'
import { Id, markUntrusted, NOT_BLANK, nameForModels, oneOf, record, theText } from '../shapes.ts'

const Memory = memoryRecord.schema
const OneMemory = record({ memory: Memory })
const writers = { roles: ['editor', 'approver'] } as const
const query = (description: string) =>
  T.String({
    minLength: 1,
    maxLength: 200,
    pattern: NOT_BLANK,
    description,
    examples: ['tone of launch posts'],
  })

export const memories = {
  list: op.query(
    'GET /api/v1/agent/memories',
    'List what the agent remembers of the workspace, and of you, newest first. Filter by scope or words.',
    {
      input: {
        scope: T.Optional(
          oneOf(memoryScopes, { description: 'Return only memories of this scope.' }),
        ),
        q: T.Optional(query('Return only memories with all these words, in any of their forms.')),
        ...shortPage,
      },
      output: record({ memories: T.Array(Memory), ...nextCursor }),
    },
    use,
  ),
  get: op.query(
    'GET /api/v1/agent/memories/:id',
    'Get a memory.',
    { input: { id: Id }, output: OneMemory },
    { ...use, errors: ['not_found'] },
  ),
  remove: op.command(
    'DELETE /api/v1/agent/memories/:id',
    'Delete a memory. The agent forgets it at once.',
    { input: { id: Id }, output: OneMemory },
    { ...use, ...writers, errors: ['not_found'] },
  ),
}

export const memoryCapabilities = {
  remember: op.command(
    'POST /api/v1/actions/remember',
    'Remember a preference or fact for later conversations. In one short sentence; it is recalled when its words come up.',
    {
      input: {
        text: theText(
          T.String({
            minLength: 1,
            maxLength: 1_000,
            pattern: NOT_BLANK,
            examples: ['Launch posts mention the price'],
          }),
        ),
        scope: T.Optional(
          oneOf(memoryScopes, {
            description: 'user: of one person alone. Default: user, if there is one.',
          }),
        ),
      },
      output: OneMemory,
    },
    { ...use, ...writers, tool: 'remember', agent: 'draft' },
  ),
  search_memories: op.query(
    'GET /api/v1/actions/search_memories',
    'Search what is remembered. Returns memories with any of the words, the best first.',
    {
      input: {
        query: query('Words to look for.'),
        limit: T.Optional(
          T.Integer({ minimum: 1, maximum: 20, default: 8, description: 'Default 8.' }),
        ),
      },
      output: record({
        memories: T.Array(Memory),
        untrusted: nameForModels(
          'memory',
          markUntrusted(
            T.Array(Memory, {
              description: 'Stored by jobs that had read text of people outside the workspace.',
            }),
          ),
        ),
      }),
    },
    { ...use, ...everybody, tool: 'search_memories', agent: 'read', foreign: true },
  ),
}
