/** What the workspace has learned about its posts, which guides drafts. */
import { Type as T } from '@sinclair/typebox'
import { Id, markUntrustedIf, nameForModels, nullable, oneOf } from '../../shapes.ts'
import { id, times } from '../fields.ts'
import { declare } from '../record.ts'

export const learningKinds = ['worked', 'flopped', 'hypothesis'] as const
export const learningStatuses = ['active', 'retired'] as const

export const LearningKind = oneOf(learningKinds, {
  description: 'worked: follow it; flopped: avoid it; hypothesis: try it.',
})

export const learningRecord = declare(
  'learning',
  { title: 'Learning' },
  {
    id,
    kind: { type: 'text', shown: LearningKind, fixed: true },
    note: { type: 'text', shown: markUntrustedIf({ field: 'untrusted' }, T.String()), fixed: true },
    untrusted: {
      type: 'boolean',
      shown: T.Boolean({
        description: 'Added by a job that had read text of people outside the workspace.',
      }),
      fixed: true,
    },
    status: {
      type: 'text',
      shown: oneOf(learningStatuses, { description: 'retired: no longer guides drafts.' }),
    },
    audit_id: {
      type: 'uuid',
      shown: nullable(
        T.String({
          format: 'uuid',
          description: 'The audit that added it; null if added by hand.',
        }),
      ),
      fixed: true,
    },
    evidence: {
      type: 'jsonb',
      shown: nameForModels('item', T.Array(Id, { description: 'Items that support it.' })),
      fixed: true,
    },
    ...times,
  },
)
