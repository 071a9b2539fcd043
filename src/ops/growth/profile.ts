import type { profile } from '#contract/growth/profile'
import { updateProfile } from '#domain/growth/drafting/profile'
import { when } from '#store/engine/load'
import { workFor } from '#store/engine/work'
import { profilePart, readProfile, type StoredProfile, saveProfile, toProfile } from '#store/growth/profiles'
import type { Handlers } from '../call.ts'
import { loading } from '../loading.ts'

/** The profile as surfaces show it: with `voice` as an alias of `voice_rules`. */
export const profileView = ({ profile, created_at, updated_at }: StoredProfile) => {
  const { writing_dna: dna, ...fields } = profile
  return { ...fields, writing_dna: { voice: dna.voice_rules, ...dna }, created_at, updated_at }
}

export const profileHandlers: Handlers<typeof profile> = {
  async get(_, { read }) {
    const [row] = await read(readProfile)
    return { profile: profileView(toProfile(row)) }
  },

  update: loading(
    ({ time_zone }, { tenantId }) => ({
      before: profilePart,
      // A new time zone moves Monday morning: the weekly report computes its time again.
      weekly: when(time_zone !== undefined, workFor('weekly_report', tenantId)),
    }),
    (patch, { gate }, { before, weekly }) => {
      const next = updateProfile(before.profile, patch)
      const reply = { profile: profileView({ profile: next, created_at: before.created_at ?? gate.now, updated_at: gate.now }) }
      const requeued = weekly && next.time_zone !== before.profile.time_zone ? [{ id: weekly.id, runAt: gate.now }] : []
      return { reply, effects: { writes: [saveProfile(next, gate.now)], requeued } }
    },
  ),
}
