import { emptyProfile, type Profile, updateProfile } from '#domain/growth/drafting/profile'
import type { Query, Sql } from '../engine/db.ts'
import { mapped, one } from '../engine/load.ts'

export interface ProfileRow {
  data: Partial<Profile> | null
  created_at: Date | null
  updated_at: Date | null
}

export interface StoredProfile {
  profile: Profile
  created_at: Date | null
  updated_at: Date | null
}

/** Without a saved row the profile is empty. Fields added by later versions get their defaults. */
export const toProfile = (row: ProfileRow | undefined): StoredProfile => ({
  profile: updateProfile(emptyProfile, row?.data ?? {}),
  created_at: row?.created_at ?? null,
  updated_at: row?.updated_at ?? null,
})

export const readProfile: Query<ProfileRow> = (sql) => sql`select data, created_at, updated_at from profile`

export const profilePart = mapped(one<ProfileRow>({ created_at: true, updated_at: true }, readProfile), toProfile)

/** The workspace, whose id is the profile's too. Undefined before the profile is first saved. */
export const profileOwner = one<{ id: string }>({}, (sql) => sql`select tenant_id as id from profile`)

export const currentProfile = async (sql: Sql): Promise<StoredProfile> => toProfile((await readProfile(sql))[0])

export const saveProfile =
  (profile: Profile, now: Date): Query =>
  (sql) =>
    sql`insert into profile (data, created_at, updated_at) values (${sql.json(profile)}, ${now}, ${now})
        on conflict (tenant_id) do update set data = excluded.data, updated_at = excluded.updated_at`
