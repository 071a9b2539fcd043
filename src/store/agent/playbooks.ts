import { playbookRecord, versionRecord } from '#contract/records/agent/playbook'
import {
  type Playbook,
  type PlaybookCounts,
  type PlaybookVersion,
  playbookLimits,
  type VersionRoom,
} from '#domain/agent/knowledge/playbook'
import { spacedOf } from '#kernel/spacing'
import type { Fragment, Query, Sql } from '../engine/db.ts'
import { many, one, sure } from '../engine/load.ts'
import type { Page } from '../engine/page.ts'
import { tableOf } from '../engine/records.ts'

const table = tableOf(playbookRecord)
const versions = tableOf(versionRecord)

/** A playbook with the text and number of its active version. */
export type WithContent = Playbook & { content: string; version: number }

const activeColumns = (sql: Sql): Fragment =>
  sql`${table.columns(sql, 'p')}, v.content, v.number as version`
export const activeTexts = (sql: Sql): Fragment =>
  sql`playbook p join playbook_version v on v.playbook_id = p.id and v.state = 'active'`

/** Newest first. */
export const listPlaybooks =
  ({
    limit,
    after,
    status,
  }: Page & { status?: Playbook['status'] | undefined }): Query<WithContent> =>
  (sql) =>
    sql`select ${activeColumns(sql)} from ${activeTexts(sql)}
      where true ${status ? sql`and p.status = ${status}` : sql``}
      ${after ? sql`and p.id < ${after}` : sql``}
      order by p.id desc limit ${limit + 1}`

/** A stranger is only shown the playbooks that are in every prompt. */
interface Within {
  pinnedOnly?: boolean
}

const onlyPinned = (sql: Sql, { pinnedOnly = false }: Within): Fragment =>
  pinnedOnly ? sql`and p.pinned and p.status = 'active'` : sql``

/** Playbooks without their texts, with a given status or all, newest first. */
export const playbookIndex = (status: Playbook['status'] | undefined, within: Within = {}) =>
  many<Playbook & { has_active: boolean }>(
    table.times,
    (sql) => sql`select ${table.columns(sql, 'p')}, exists (select from playbook_version v
      where v.playbook_id = p.id and v.state = 'active') as has_active
      from playbook p where true ${status ? sql`and p.status = ${status}` : sql``}
        ${onlyPinned(sql, within)} order by p.id desc limit ${playbookLimits.active}`,
  )

export const playbookPart = (id: string) =>
  one<WithContent>(
    table.times,
    (sql) => sql`select ${activeColumns(sql)} from ${activeTexts(sql)} where p.id = ${id}`,
  )

export const playbookBySlug = (slug: string, within: Within = {}) =>
  one<WithContent>(
    table.times,
    (sql) =>
      sql`select ${activeColumns(sql)} from ${activeTexts(sql)}
        where p.slug = ${slug} ${onlyPinned(sql, within)}`,
  )

/** The slugs that the agent can use. */
export const activeSlugs = (within: Within = {}) =>
  many<{ slug: string }>(
    {},
    (sql) =>
      sql`select p.slug from playbook p where p.status = 'active' ${onlyPinned(sql, within)}
        order by p.slug limit ${playbookLimits.active}`,
  )

export const isSlugTaken = (slug: string) =>
  sure(
    one<{ taken: boolean }>(
      {},
      (sql) => sql`select exists (select from playbook where slug = ${slug}) as taken`,
    ),
  )

/** Counts the playbooks other than this one. */
export const playbookCounts = (id: string | null) =>
  sure(
    one<PlaybookCounts>(
      {},
      (sql) => sql`select count(*)::int as all, (count(*) filter (where status = 'active'))::int as
        active,
          (count(*) filter (where status = 'active' and pinned))::int as pinned
        from (select status, pinned from playbook where id is distinct from ${id}::uuid
          limit ${playbookLimits.all}) others`,
    ),
  )

export const insertPlaybook = (playbook: Playbook): Query => table.insert(playbook)

export const savePlaybook = (playbook: Playbook): Query => table.save(playbook)

/** Newest first. */
export const versionsOf = (playbookId: string) =>
  many<PlaybookVersion>(
    versions.times,
    (sql) => sql`select ${versions.columns(sql, 'v')} from playbook_version v
      where v.playbook_id = ${playbookId}
      order by v.number desc limit ${playbookLimits.versions}`,
  )

export const versionById = (id: string) =>
  one<PlaybookVersion>(
    versions.times,
    (sql) => sql`select ${versions.columns(sql, 'v')} from playbook_version v where v.id = ${id}`,
  )

/** The playbook that has this version. */
export const playbookWith = (versionId: string) =>
  one<WithContent>(
    table.times,
    (sql) => sql`select ${activeColumns(sql)} from ${activeTexts(sql)}
      where p.id = (select playbook_id from playbook_version where id = ${versionId})`,
  )

/** The version that holds now instead of this one. */
export const activeInstead = (versionId: string) =>
  one<PlaybookVersion>(
    versions.times,
    (sql) => sql`select ${versions.columns(sql, 'v')} from playbook_version v
      where v.state = 'active' and v.id <> ${versionId}
        and v.playbook_id = (select playbook_id from playbook_version where id = ${versionId})`,
  )

export const versionPart = (playbookId: string, id: string) =>
  one<PlaybookVersion>(
    versions.times,
    (sql) =>
      sql`select ${versions.columns(sql, 'v')} from playbook_version v
        where v.playbook_id = ${playbookId} and v.id = ${id}`,
  )

export const activeVersion = (playbookId: string) =>
  one<PlaybookVersion>(
    versions.times,
    (sql) =>
      sql`select ${versions.columns(sql, 'v')} from playbook_version v
        where v.playbook_id = ${playbookId} and v.state = 'active'`,
  )

export const versionRoom = (playbookId: string) =>
  sure(
    one<VersionRoom>(
      {},
      (sql) => sql`select count(*)::int as count, coalesce(max(number), 0)::int as newest,
          (array_agg(id order by number) filter (where state in ('rejected', 'retired')))[1] as
            oldest
        from playbook_version where playbook_id = ${playbookId}`,
    ),
  )

export const insertVersion = (version: PlaybookVersion): Query =>
  versions.insert(version, { spaced: spacedOf(version.content) })

export const saveVersion = (version: PlaybookVersion): Query => versions.save(version)

const deleteVersion =
  (id: string): Query =>
  (sql) =>
    sql`delete from playbook_version where id = ${id}`

/** `removed`: the version that makes room for the draft. */
export const insertDraft = ({
  version,
  removed,
}: {
  version: PlaybookVersion
  removed: string | null
}): Query[] => [insertVersion(version), ...(removed === null ? [] : [deleteVersion(removed)])]

/** The playbooks that are in every prompt, newest first. */
export const pinnedPlaybooks = many<Pick<WithContent, 'slug' | 'name' | 'content' | 'version'>>(
  {},
  (sql) => sql`select p.slug, p.name, v.content, v.number as version from ${activeTexts(sql)}
    where p.pinned and p.status = 'active' order by p.id desc limit ${playbookLimits.pinned}`,
)

/** How many bytes their texts have. */
export const pinnedBytes = sure(
  one<{ bytes: number }>(
    {},
    (sql) =>
      sql`select coalesce(sum(octet_length(v.content)), 0)::int as bytes from ${activeTexts(sql)}
        where p.pinned and p.status = 'active'`,
  ),
)
