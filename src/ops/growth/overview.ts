import type { overview } from '#contract/growth/overview'
import type { OutputOf } from '#contract/op'
import { channelOfRow, type StoredChannel } from '#domain/growth-channel'
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
      read<StoredChannel>(growthChannels),
      read<Item>(listItems({ status: 'drafted', limit: DRAFTS })),
      read<Overview['learnings'][number]>(activeLearnings(LEARNINGS)),
    ])
    const shown = { channels: channels.map(channelOfRow), drafted: drafted.slice(0, DRAFTS).map(itemView), learnings }
    return { overview: { profile: profileView(toProfile(profile)), ...shown } }
  },
}
