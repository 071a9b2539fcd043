import type { Draft, DraftBrief } from '#domain/growth/drafting/draft'
import { hookNamed } from '#domain/growth/drafting/hooks'
import { checkDraft, type DraftFault } from '../checks/draft.ts'
import { isGarbled } from './answer.ts'
import { citedStories, learningsOf, ModelAnswer, type ModelDraft } from './draft-prompt.ts'
import {
  type AnswerFault,
  answerIn,
  type BriefedCompletion,
  type Fault,
  garbled,
} from './reading.ts'

export type Cause = DraftFault['kind'] | AnswerFault

export interface DraftsReading {
  valid: Draft[]
  /** The faults, worded for the model. */
  faults: string[]
  causes: Cause[]
}

const draftOf = (written: ModelDraft, brief: DraftBrief): Draft => ({
  body: written.body.trim(),
  format: written.format.trim().toLowerCase(),
  hook: hookNamed(written.hook) ?? '',
  rationale: written.rationale.trim(),
  stories: citedStories(written, brief),
  learnings: learningsOf(written, brief),
})

/** Results are counted by the name of the opening, so every draft must name one. */
const hookFaults = ({ hook }: Draft): Fault<Cause>[] =>
  hook === '' ? [{ kind: 'hook', detail: 'its "hook" is none of "hooks"' }] : []

const faultsOf = (draft: Draft, brief: DraftBrief, accepted: readonly Draft[]): Fault<Cause>[] =>
  isGarbled([draft.body, draft.format, draft.rationale])
    ? [garbled]
    : [...hookFaults(draft), ...checkDraft(draft, brief, accepted)]

/** Sorts an answer into valid drafts and faults; `accepted` are the drafts of an earlier turn. */
export const readDrafts = ({
  brief,
  completion,
  accepted,
}: BriefedCompletion<DraftBrief> & { accepted: readonly Draft[] }): DraftsReading => {
  const { answer, faults: unreadable } = answerIn(completion, ModelAnswer)
  if (unreadable)
    return {
      valid: [],
      faults: unreadable.map(({ detail }) => detail),
      causes: unreadable.slice(0, 1).map(({ kind }) => kind),
    }
  const reading: DraftsReading = { valid: [], faults: [], causes: [] }
  for (const [index, written] of answer.drafts.slice(0, brief.count - accepted.length).entries()) {
    const draft = draftOf(written, brief)
    const faults = faultsOf(draft, brief, [...accepted, ...reading.valid])
    if (faults.length === 0) reading.valid.push(draft)
    for (const { kind, detail } of faults) {
      reading.faults.push(`post ${index + 1}: ${detail}`)
      reading.causes.push(kind)
    }
  }
  return reading
}
