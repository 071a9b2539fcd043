import type { overview } from '#contract/growth/overview'
import type { OutputOf } from '#contract/op'
import { channelOfRow } from '#domain/growth/drafting/growth-channel'
import { type Item, itemView } from '#domain/growth/drafting/item'
import { growthChannels } from '#store/growth/growth-channels'
import { newestOfAll } from '#store/growth/items'
import { activeLearningsOfAll } from '#store/growth/learnings'
import { readProfile, toProfile } from '#store/growth/profiles'
import type { Handlers } from '../call.ts'
import { pageResult } from '../paging.ts'
import { profileView } from './profile.ts'

type Learning = OutputOf<typeof overview.get>['overview']['learnings'][number]

const DRAFTS = 25
const LEARNINGS = 25

/** The first page of a list. Each row carries the total. */
const beginningOf = <Row extends { id: string }>(rows: (Row & { total: number })[], limit: number) => {
  const total = rows[0]?.total ?? 0
  const { rows: page, next_cursor } = pageResult(rows, limit)
  return { total, next_cursor, page: page.map(({ total: _, ...row }) => row as unknown as Row) }
}

export const overviewHandlers: Handlers<typeof overview> = {
  async get(_, { read }) {
    const [[profile], channels, items, lessons] = await Promise.all([
      read(readProfile),
      read(growthChannels),
      read(newestOfAll({ status: 'drafted', limit: DRAFTS })),
      read(activeLearningsOfAll(LEARNINGS)),
    ])
    const [drafted, learnings] = [beginningOf<Item>(items, DRAFTS), beginningOf<Learning>(lessons, LEARNINGS)]
    return {
      overview: {
        profile: profileView(toProfile(profile)),
        channels: channels.map(channelOfRow),
        drafted: drafted.page.map(itemView),
        drafted_total: drafted.total,
        drafted_next_cursor: drafted.next_cursor,
        learnings: learnings.page,
        learnings_total: learnings.total,
        learnings_next_cursor: learnings.next_cursor,
      },
    }
  },
}
