/** Where a draft comes from. What it was made for counts before who asked for that. */
import type { sourceKinds } from '#contract/records/growth/source'
import type { Author } from './revision.ts'

export interface DraftSource {
  source_kind: (typeof sourceKinds)[number]
  /** Of the record that the kind names; null if there is none. */
  source_id: string | null
}

/** Written or requested by somebody. The server itself has no id of a record. */
export const byAuthor = ({ kind, id }: Author): DraftSource => ({
  source_kind: kind,
  source_id: kind === 'system' ? null : id,
})

interface Generated {
  id: string
  /** The rule that requested it. */
  rule_id: string | null
}

const byRule = (rule_id: string): DraftSource => ({ source_kind: 'rule', source_id: rule_id })

/** Of a post of a batch. `experiment`: of whose arms it is one. */
export const byBatch = ({ id, rule_id }: Generated, experiment: string | null): DraftSource => {
  if (experiment !== null) return { source_kind: 'arm', source_id: experiment }
  return rule_id === null ? { source_kind: 'batch', source_id: id } : byRule(rule_id)
}

export const byArticle = ({ id, rule_id }: Generated): DraftSource =>
  rule_id === null ? { source_kind: 'article', source_id: id } : byRule(rule_id)

/** Made of an earlier item. */
export const byItem = (id: string): DraftSource => ({ source_kind: 'resurfaced', source_id: id })

/** Requested by a rule, or else by somebody. */
export const byRequest = (requested: { rule: string } | { by: Author }): DraftSource =>
  'rule' in requested ? byRule(requested.rule) : byAuthor(requested.by)
