import type { overview } from '#contract/growth/overview'
import { itemView } from '#domain/growth/drafting/item-view'
import { loadBy } from '#store/engine/load'
import { allChannels } from '#store/growth/growth-channels'
import { itemCount, newestItems } from '#store/growth/items'
import { activeCount, newestActive } from '#store/growth/learnings'
import { profilePart } from '#store/growth/profiles'
import type { Handlers } from '../call.ts'
import { pageResult } from '../paging.ts'
import { profileView } from './profile.ts'

const DRAFTS = 25
const LEARNINGS = 25

const parts = {
  profile: profilePart,
  channels: allChannels,
  items: newestItems({ status: 'drafted', limit: DRAFTS }),
  drafts: itemCount('drafted'),
  lessons: newestActive(LEARNINGS),
  learnt: activeCount,
}

export const overviewHandlers: Handlers<typeof overview> = {
  async get(_, { read }) {
    const { profile, channels, items, drafts, lessons, learnt } = await loadBy(read, parts)
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
      },
    }
  },
}
