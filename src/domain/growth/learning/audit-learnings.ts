/** What an audit teaches: the findings that drafting can follow. */
import { labelOf, noteOf } from './claim-words.ts'
import type { AuditResult, Claim, Findings, LearnedKind } from './growth-audit.ts'

/** A learning found by an audit, with its evidence. */
export interface FoundLearning {
  kind: LearnedKind
  note: string
  evidence: string[]
}

/** Dimensions that drafting cannot follow, or that are no longer news to it. */
const notDrafted = new Set(['weekday', 'hour', 'learning', 'link', 'emoji'])

/**
 * The findings that drafting can follow, one learning for each kind of post. `steers` says whether
 * drafting understands a note.
 */
export const learningsFrom = (
  findings: Findings,
  learnings: ReadonlyMap<string, string>,
  steers: (note: string) => boolean,
): FoundLearning[] => {
  const claimed = new Set<string>()
  const from = (kind: LearnedKind, claims: Claim[]): FoundLearning[] =>
    claims.flatMap((claim) => {
      const about = `${claim.dimension} ${claim.value}`
      const note = noteOf(claim, labelOf(claim, learnings), kind)
      if (
        claimed.has(about) ||
        notDrafted.has(claim.dimension) ||
        !(claim.dimension === 'product' || steers(note))
      )
        return []
      claimed.add(about)
      return [{ kind, note, evidence: claim.item_ids }]
    })
  return [
    ...from('worked', findings.worked),
    ...from('flopped', findings.flopped),
    ...from('hypothesis', findings.hypotheses),
  ]
}

const foldNote = (note: string): string => note.trim().toLowerCase()

/** The findings that become learnings: those not active yet, up to `most` active ones. */
export const admitLearnings = (
  found: FoundLearning[],
  { active, most }: { active: { kind: LearnedKind; note: string }[]; most: number },
): { added: FoundLearning[]; refused: AuditResult['not_added'] } => {
  const known = new Set(active.map(({ kind, note }) => `${kind} ${foldNote(note)}`))
  const added: FoundLearning[] = []
  const refused: AuditResult['not_added'] = []
  for (const one of found) {
    const { kind, note } = one
    if (known.has(`${kind} ${foldNote(note)}`))
      refused.push({ kind, note, reason: 'active_already' })
    else if (active.length + added.length >= most)
      refused.push({ kind, note, reason: 'too_many_active' })
    else added.push(one)
  }
  return { added, refused }
}
