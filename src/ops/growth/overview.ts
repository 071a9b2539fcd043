import type { overview } from '#contract/growth/overview'
import { budgetsOf } from '#domain/app/plan'
import { itemView } from '#domain/growth/drafting/item-view'
import { type PlanRow, planOfWorkspace } from '#store/app/workspace'
import { loadBy, one, sure } from '#store/engine/load'
import { pauseOf } from '#store/growth/automation'
import { countsPart, nextScheduled } from '#store/growth/counts'
import { allChannels } from '#store/growth/growth-channels'
import { itemCount, newestItems } from '#store/growth/items'
import { activeCount, newestActive } from '#store/growth/learnings'
import { profilePart } from '#store/growth/profiles'
import type { Handlers, Parts } from '../engine/call.ts'
import { pageResult } from '../engine/paging.ts'
import { profileView } from './profile.ts'

const DRAFTS = 25
const LEARNINGS = 25
const NEXT = 3

/** What is left of the monthly quotas. */
const quotasLeft = ({ now, counters, ...plan }: PlanRow) =>
  budgetsOf({ plan, counters, now }).quotas.map(({ key, used, limit, resets_at }) => ({
    key,
    left: Math.max(0, limit - used),
    limit,
    resets_at,
  }))

const parts = {
  profile: profilePart,
  channels: allChannels,
  items: newestItems({ status: 'drafted', limit: DRAFTS }),
  drafts: itemCount('drafted'),
  lessons: newestActive(LEARNINGS),
  learnt: activeCount,
  counts: countsPart,
  pause: pauseOf,
  usage: sure(one<PlanRow>({ now: true }, planOfWorkspace)),
  next_due: nextScheduled(NEXT),
}

/** `drafter`: a model's name, or `composer`. */
export const overviewHandlers = ({
  drafter,
}: Pick<Parts, 'drafter'>): Handlers<typeof overview> => ({
  async get(_, { read }) {
    const { profile, channels, items, drafts, lessons, learnt, counts, pause, usage, next_due } =
      await loadBy(read, parts)
    const [drafted, learnings] = [pageResult(items, DRAFTS), pageResult(lessons, LEARNINGS)]
    return {
      overview: {
        profile: profileView(profile),
        channels,
        drafted: drafted.rows.map(itemView),
        drafted_total: drafts,
        drafted_next_cursor: drafted.next_cursor,
        learnings: learnings.rows,
        learnings_total: learnt.active,
        learnings_next_cursor: learnings.next_cursor,
        counts,
        paused: pause.paused,
        held: pause.held !== null,
        paused_everywhere: pause.everywhere !== null,
        drafter,
        quotas: quotasLeft(usage),
        next_due,
      },
    }
  },
})
