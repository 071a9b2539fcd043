/** Where a draft comes from: by this, those that wait for a person are put together. */
import { Type as T } from '@sinclair/typebox'
import { nullable, oneOf, record } from '../../shapes.ts'

export const sourceKinds = [
  'batch',
  'article',
  'rule',
  'person',
  'key',
  'agent',
  'system',
  'resurfaced',
  'arm',
] as const

const SourceKind = oneOf(sourceKinds, {
  description:
    'batch, article: drafted for it. rule: it, or its batch or article, was requested by a rule. person, key, agent: who wrote or requested it; an agent by its job. resurfaced: made of an earlier item. arm: of an experiment. system: the server, or not known any more.',
})

/** The title tells where names of people are: see src/ops/engine/people-names.ts. */
export const SourceSchema = record(
  {
    kind: SourceKind,
    id: nullable(
      T.String({ description: 'Of the record that kind names; for an arm, of its experiment.' }),
    ),
    name: nullable(
      T.String({
        description:
          'The focus of a batch, the topic of an article, the name of a rule, arm, key or person: of people for those alone who are signed in.',
      }),
    ),
  },
  { title: 'Source', description: 'Where it comes from.' },
)

/** The fields of a record that has a source. */
export const sourceFields = {
  source_kind: { type: 'text', of: SourceKind, hidden: 'part of source', fixed: true },
  source_id: { type: 'uuid', null: true, hidden: 'part of source', fixed: true },
  source_name: { of: T.String(), null: true, hidden: 'part of source', from: 'query' },
  source: { shown: SourceSchema, from: 'view' },
  names: {
    of: T.Record(T.String(), T.String()),
    null: true,
    hidden: 'names of people and keys by their ids, shown where the record names them',
    from: 'query',
  },
} as const
