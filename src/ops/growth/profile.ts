import type { profile } from '#contract/growth/profile'
import { updateProfile } from '#domain/growth/drafting/profile'
import { workOf } from '#store/engine/work'
import { currentProfile, type StoredProfile, saveProfile } from '#store/growth/profiles'
import type { Handlers } from '../call.ts'

/** The profile as surfaces show it: with `voice` as an alias of `voice_rules`. */
export const profileView = ({ profile, created_at, updated_at }: StoredProfile) => {
  const { writing_dna: dna, ...fields } = profile
  return { ...fields, writing_dna: { voice: dna.voice_rules, ...dna }, created_at, updated_at }
}

export const profileHandlers: Handlers<typeof profile> = {
  async update(patch, { sql, gate, tenantId }) {
    const before = await currentProfile(sql)
    const next = updateProfile(before.profile, patch)
    const reply = { profile: profileView({ profile: next, created_at: before.created_at ?? gate.now, updated_at: gate.now }) }
    // A new time zone moves Monday morning: the weekly report computes its time again.
    const weekly = next.time_zone === before.profile.time_zone ? undefined : await workOf(sql, 'weekly_report', tenantId)
    const requeued = weekly ? [{ id: weekly.id, runAt: gate.now }] : []
    return { reply, effects: { writes: [saveProfile(next, gate.now)], requeued } }
  },
}
