/** What the agent is to remember beyond a conversation. */
import { Type as T } from '@sinclair/typebox'
import { Id, markUntrustedIf, nullable, oneOf, Time } from '../../shapes.ts'
import { declare } from '../record.ts'

export const memoryScopes = ['user', 'workspace'] as const

export const memoryRecord = declare(
  'agent_memory',
  { title: 'Memory', case: 'camelCase' },
  {
    id: { type: 'uuid', shown: Id },
    scope: {
      type: 'text',
      shown: oneOf(memoryScopes, { description: 'user: yours alone; workspace: of everybody.' }),
    },
    person_id: {
      type: 'uuid',
      null: true,
      hidden: 'whose it is; null for one of the workspace. That person alone is shown it',
      unexported: 'memories of a person are shown to that person alone',
    },
    text: { type: 'text', shown: markUntrustedIf({ field: 'untrusted' }, T.String()) },
    text_hash: {
      type: 'text',
      hidden: 'by which equal texts are found',
      unexported: 'follows from the text, which is exported',
    },
    // Never reset: only if a person deletes the memory can it be stored anew.
    untrusted: {
      type: 'boolean',
      shown: T.Boolean({
        description:
          'Stored by a job that had read text of people outside the workspace. Found by search only.',
      }),
    },
    job_id: {
      type: 'uuid',
      shown: nullable(T.String({ format: 'uuid', description: 'The job that stored it.' })),
    },
    // When it was last given to a model, or stored again.
    last_used_at: { type: 'timestamp with time zone', shown: nullable(Time) },
    created_at: { type: 'timestamp with time zone', shown: Time },
    updated_at: { type: 'timestamp with time zone', shown: Time },
    spaced: {
      type: 'text',
      null: true,
      hidden: 'the text with spaces between words, where its script has none',
      from: 'elsewhere',
      unexported: 'follows from the text, which is exported',
    },
    words: {
      type: 'tsvector',
      hidden: 'by which it is found',
      from: 'elsewhere',
      unexported: 'follows from the text, which is exported',
    },
    configuration: {
      type: 'text',
      hidden: 'the configuration of full text search by which its words are found',
      from: 'elsewhere',
      unexported: 'how the words were found',
    },
  },
)
