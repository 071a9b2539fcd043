import type { overview } from '#contract/growth/overview'
import type { OutputOf } from '#contract/op'
import { type Item, itemView } from '#domain/item'
import { growthChannels } from '#store/growth-channels'
import { listItems } from '#store/items'
import { activeLearnings } from '#store/learnings'
import { type ProfileRow, readProfile, toProfile } from '#store/profiles'
import type { Handlers } from '../call.ts'
import { profileView } from './profile.ts'

type Overview = OutputOf<typeof overview.get>['overview']

const DRAFTS = 25
const LEARNINGS = 25

export const overviewHandlers: Handlers<typeof overview> = {
  async get(_, { read }) {
    const [[profile], channels, drafted, learnings] = await Promise.all([
      read<ProfileRow>(readProfile),
      read<Overview['channels'][number]>(growthChannels),
      read<Item>(listItems({ status: 'drafted', limit: DRAFTS })),
      read<Overview['learnings'][number]>(activeLearnings(LEARNINGS)),
    ])
    return { overview: { profile: profileView(toProfile(profile)), channels, drafted: drafted.slice(0, DRAFTS).map(itemView), learnings } }
  },
}
