import type { DraftBrief, ReplyBrief, ReplyDraft } from '#domain/growth/drafting/draft'
import { findLinks } from '#domain/growth/drafting/links'
import { checkDraft, type DraftFault, draftFacts } from './draft.ts'

export interface ReplyFault {
  kind: DraftFault['kind'] | 'link'
  detail: string
}

const briefs = new WeakMap<ReplyBrief, DraftBrief>()

/**
 * A reply is checked like a batch of one whose focus is the instruction. The other person's post is
 * not a source of facts.
 */
export const replyStandards = (brief: ReplyBrief): DraftBrief => {
  const { profile, learnings, products, archived, maxLength, measure, rules, seed, instruction } =
    brief
  const known = briefs.get(brief)
  const standards = known ?? {
    profile,
    learnings,
    products,
    archived,
    maxLength,
    measure,
    rules,
    seed,
    count: 1,
    focus: instruction,
    recent: [],
    hooks: [],
  }
  briefs.set(brief, standards)
  return standards
}

/**
 * Every reason to reject a reply. Links must be the person's own: one from the other post could
 * lead anywhere.
 */
export const checkReply = ({ body }: ReplyDraft, brief: ReplyBrief): ReplyFault[] => {
  const standards = replyStandards(brief)
  const facts = draftFacts(standards)
  const foreign = findLinks(body)
    .map(({ start, end }) => body.slice(start, end))
    .filter((link) => !facts.includes(link))
  const links = foreign.map((link) => ({
    kind: 'link' as const,
    detail: `the body has the link ${link}, which is not in the profile`,
  }))
  return [...checkDraft({ body, hook: '', stories: [] }, standards, []), ...links]
}
