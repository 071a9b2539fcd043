/** Rules about posts and articles, from drafting to what became of them. */
import type { BriefFacts, BriefRow, FoundRows } from './brief.ts'
import { ageOf, type BriefRule, idOf, leftOf, onFound, pluralise, wait } from './brief-words.ts'

const MOST_IN_BATCH = 20
const USUAL_BATCH = 5

const settlePosts: BriefRule = ({ items: { review } }) =>
  onFound(review, {
    kind: 'settle_posts',
    operation: 'growth.items.markPosted',
    arguments: idOf(review.rows),
    title: `Check whether ${pluralise(review.count, 'post')} went out`,
    why: `The network did not confirm ${pluralise(review.count, 'post')}, and the timeline does not show ${review.count === 1 ? 'it' : 'them'}. Check the network: mark those that are there as posted, and post the others again.`,
  })

const retryFailed: BriefRule = ({ items: { failed }, lastError }) =>
  onFound(failed, {
    kind: 'retry_failed_posts',
    operation: 'growth.items.list',
    arguments: { status: 'publish_failed' },
    title: `Retry or reject ${pluralise(failed.count, 'failed post')}`,
    why: `The network refused ${pluralise(failed.count, 'post')}${lastError ? `, the first with “${lastError}”` : ''}. Post or schedule each one again, or reject it.`,
  })

const watchPosts: BriefRule = ({ items: { unconfirmed } }) =>
  onFound(unconfirmed, {
    kind: 'watch_posts',
    operation: 'growth.items.list',
    arguments: { status: 'publish_unconfirmed' },
    title: `Wait for ${pluralise(unconfirmed.count, 'unconfirmed post')}`,
    why: `The network did not confirm ${pluralise(unconfirmed.count, 'post')}. Tendril is reading the timeline; do not post again.`,
  })

const approve =
  (
    kind: 'approve_posts' | 'approve_articles',
    group: 'drafts' | 'articles',
    noun: string,
  ): BriefRule =>
  ({ items, now }) => {
    const found = items[group]
    return onFound(found, {
      kind,
      operation: 'growth.items.approve',
      arguments: idOf(found.rows),
      title: `Approve ${pluralise(found.count, noun)}`,
      why: `${pluralise(found.count, `drafted ${noun}`)} ${wait(found.count)} for approval${ageOf(found.rows, now)}. Nothing goes out without approval.`,
    })
  }

const slotRows = (slots: readonly Date[]): BriefRow[] =>
  slots.map((at) => ({
    id: null,
    type: 'slot',
    title: `Free on ${at.toISOString().slice(0, 16).replace('T', ' at ')} UTC`,
    status: 'free',
    at,
  }))

/** Approved posts fill slots first; otherwise something must be drafted. */
const fillSlots: BriefRule = ({ slots, items: { approved, drafts }, drafting, isBare, quota }) => {
  if (!slots || slots.length === 0) return undefined
  const common = {
    kind: 'fill_slots' as const,
    count: slots.length,
    rows: slotRows(slots),
    title: `Fill ${pluralise(slots.length, 'free slot')}`,
  }
  const free = `${pluralise(slots.length, 'slot')} of the next 7 days ${slots.length === 1 ? 'is' : 'are'} free`
  if (approved.count > 0) {
    const why = `${free}, and ${pluralise(approved.count, 'approved post')} ${wait(approved.count)} without a time.`
    return {
      ...common,
      operation: 'growth.items.schedule',
      arguments: { ...idOf(approved.rows), post_at: 'next_slot' },
      why,
    }
  }
  const missing = slots.length - drafts.count
  const count = Math.min(missing, MOST_IN_BATCH, leftOf(quota))
  if (count <= 0 || drafting > 0 || isBare) return undefined
  const why = `${free}, and ${drafts.count === 0 ? 'nothing is' : `only ${pluralise(drafts.count, 'post is', 'posts are')}`} drafted for them.`
  return { ...common, operation: 'growth.batches.create', arguments: { count }, why }
}

/** Nothing is on its way, and there are no free slots, which `fillSlots` drafts for. */
const isQueueEmpty = ({
  items: { drafts, approved, scheduled },
  drafting,
  slots,
}: BriefFacts): boolean =>
  drafts.count + approved.count + scheduled.count + drafting === 0 && (slots?.length ?? 0) === 0

const draftPosts: BriefRule = (facts) => {
  const count = Math.min(USUAL_BATCH, leftOf(facts.quota))
  if (count === 0 || facts.isBare || facts.isInactive || !isQueueEmpty(facts)) return undefined
  return {
    kind: 'draft_posts',
    count,
    rows: [],
    operation: 'growth.batches.create',
    arguments: { count },
    title: 'Draft posts',
    why: 'The queue is empty: nothing is drafted, approved or scheduled.',
  }
}

/** With a cadence the next slot is asked for; without one, the person chooses a time. */
const schedule = (
  kind: 'schedule_posts' | 'schedule_articles',
  noun: string,
  { found, slot }: { found: FoundRows; slot: boolean },
) =>
  onFound(found, {
    kind,
    operation: 'growth.items.schedule',
    arguments: { ...idOf(found.rows), ...(slot ? { post_at: 'next_slot' } : {}) },
    title: `Schedule ${pluralise(found.count, `approved ${noun}`)}`,
    why: `${pluralise(found.count, `approved ${noun}`)} ${wait(found.count)} without a time.`,
  })

/** Posts for which there are free slots fill those: see `fillSlots`. */
const schedulePosts: BriefRule = ({ items: { approved: found }, slots, cadences }) =>
  (slots?.length ?? 0) > 0
    ? undefined
    : schedule('schedule_posts', 'post', { found, slot: cadences.posts })

const scheduleArticles: BriefRule = ({ items: { approved_articles: found }, cadences }) =>
  schedule('schedule_articles', 'article', { found, slot: cadences.articles })

export const postRules: readonly BriefRule[] = [
  settlePosts,
  retryFailed,
  watchPosts,
  approve('approve_posts', 'drafts', 'post'),
  approve('approve_articles', 'articles', 'article'),
  fillSlots,
  draftPosts,
  schedulePosts,
  scheduleArticles,
]
