import { profileRecord, profileRevisionRecord } from '#contract/records/growth/profile'
import type { RowOf } from '#contract/records/record'
import { emptyProfile, type Profile, updateProfile } from '#domain/growth/drafting/profile'
import type { Author } from '#domain/growth/drafting/revision'
import type { Query, Sql } from '../engine/db.ts'
import { many, mapPart, one } from '../engine/load.ts'
import { tableOf } from '../engine/records.ts'

/** How many versions are kept, including the present one. */
const MOST_VERSIONS = 50

const { columns, times } = tableOf(profileRecord)
const { times: versionTimes } = tableOf(profileRevisionRecord)

type ProfileRow = RowOf<typeof profileRecord>

export interface StoredProfile {
  profile: Profile
  /** Counts its versions; 0 before it is first saved. */
  revision: number
  created_at: Date | null
  updated_at: Date | null
}

/**
 * If no row was saved, the profile is empty. Fields that later versions added get their defaults.
 */
export const toProfile = (
  row: (Pick<ProfileRow, 'data'> & Partial<Omit<StoredProfile, 'profile'>>) | undefined,
): StoredProfile => ({
  profile: updateProfile(emptyProfile, row?.data ?? {}),
  revision: row?.revision ?? 0,
  created_at: row?.created_at ?? null,
  updated_at: row?.updated_at ?? null,
})

export const readProfile: Query<ProfileRow> = (sql) => sql`select ${columns(sql)} from profile`

export const profilePart = mapPart(one<ProfileRow>(times, readProfile), toProfile)

/** Who wrote the present version, and when. Undefined before the profile is first saved. */
export const profileWriter = one<Pick<ProfileRow, 'written_by' | 'updated_at'>>(
  times,
  (sql) => sql`select written_by, updated_at from profile`,
)

/** The workspace, whose id is the profile's too. Undefined before the profile is first saved. */
export const profileOwner = one<{ id: string }>(
  {},
  (sql) => sql`select tenant_id as id from profile`,
)

export const currentProfile = async (sql: Sql): Promise<StoredProfile> =>
  toProfile((await readProfile(sql))[0])

/** Saves a new version, and keeps the one that it replaces. */
export const saveProfile = (
  profile: Profile,
  { revision, by, changed, now }: { revision: number; by: Author; changed: string[]; now: Date },
): Query[] => [
  // All statements of a letter see the same rows, so this one still reads the earlier version.
  (sql) => sql`insert into profile_revision (number, data, written_by, written_at, changed)
    select revision, data, written_by, updated_at, changed from profile`,
  (sql) => sql`delete from profile_revision where number <= ${revision - MOST_VERSIONS}`,
  (sql) => sql`insert into profile (data, revision, written_by, changed, created_at, updated_at)
    values (${sql.json(profile)}, ${revision}, ${sql.json(by)}, ${changed}, ${now}, ${now})
    on conflict (tenant_id) do update set data = excluded.data, revision = excluded.revision,
      written_by = excluded.written_by,
      changed = excluded.changed, updated_at = excluded.updated_at`,
]

/** Newest first, including the present one. Returns one more than the limit. */
export const profileVersions = ({ limit, after }: { limit: number; after?: number }) =>
  many<RowOf<typeof profileRevisionRecord>>(
    versionTimes,
    (sql) => sql`select * from (
        select number, data, written_by, written_at, changed from profile_revision
        union all select revision, data, written_by, updated_at, changed from profile) version
      where ${after === undefined ? sql`true` : sql`number < ${after}`} order by number desc
        limit ${limit + 1}`,
  )
