import type { profile } from '#contract/growth/profile'
import { updateProfile } from '#domain/growth/drafting/profile'
import { workOf } from '#store/engine/work'
import { currentProfile, type StoredProfile, saveProfile } from '#store/growth/profiles'
import type { Handlers } from '../call.ts'

/** As every surface shows it: with the voice under both of its names. */
export const profileView = ({ profile, created_at, updated_at }: StoredProfile) => {
  const { writing_dna: dna, ...fields } = profile
  return { ...fields, writing_dna: { voice: dna.voice_rules, ...dna }, created_at, updated_at }
}

export const profileHandlers: Handlers<typeof profile> = {
  async update(patch, { sql, gate, tenantId }) {
    const before = await currentProfile(sql)
    const next = updateProfile(before.profile, patch)
    const reply = { profile: profileView({ profile: next, created_at: before.created_at ?? gate.now, updated_at: gate.now }) }
    // Monday morning comes at another time: the weekly report looks anew when that is.
    const weekly = next.time_zone === before.profile.time_zone ? undefined : await workOf(sql, 'weekly_report', tenantId)
    const requeued = weekly ? [{ id: weekly.id, runAt: gate.now }] : []
    return { reply, effects: { writes: [saveProfile(next, gate.now)], requeued } }
  },
}
