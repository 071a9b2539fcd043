import {
  MOST_ACTIVE,
  MOST_PINNED,
  MOST_PLAYBOOKS,
  MOST_VERSIONS,
  type Playbook,
  type PlaybookCounts,
  type PlaybookVersion,
  type VersionRoom,
} from '#domain/agent/knowledge/playbook'
import { spacedOf } from '#kernel/spacing'
import { assignments } from '../engine/assign.ts'
import type { Fragment, Query, Sql } from '../engine/db.ts'
import { many, one, sure } from '../engine/load.ts'
import type { Page } from '../engine/page.ts'

const columns = (sql: Sql): Fragment => sql`p.id, p.slug, p.name, p.description, p.pinned, p.status, p.created_at, p.updated_at`
const times = { created_at: true, updated_at: true } as const

const versionColumns = (sql: Sql): Fragment => sql`v.id, v.playbook_id, v.number, v.content, v.rationale, v.state, v.author, v.untrusted,
  v.decided_by, v.decided_at, v.created_at, v.updated_at`
const versionTimes = { decided_at: true, created_at: true, updated_at: true } as const

/** With the text and number of its active version. */
export type WithContent = Playbook & { content: string; version: number }

const activeColumns = (sql: Sql): Fragment => sql`${columns(sql)}, v.content, v.number as version`
export const activeTexts = (sql: Sql): Fragment => sql`playbook p join playbook_version v on v.playbook_id = p.id and v.state = 'active'`

/** Newest first. */
export const listPlaybooks =
  ({ limit, after, status }: Page & { status?: Playbook['status'] | undefined }): Query<WithContent> =>
  (sql) =>
    sql`select ${activeColumns(sql)} from ${activeTexts(sql)} where true ${status ? sql`and p.status = ${status}` : sql``} ${after ? sql`and p.id < ${after}` : sql``}
      order by p.id desc limit ${limit + 1}`

/** A stranger is shown the playbooks of every prompt, and no others. */
interface Within {
  pinnedOnly?: boolean
}

const shown = (sql: Sql, { pinnedOnly = false }: Within): Fragment => (pinnedOnly ? sql`and p.pinned and p.status = 'active'` : sql``)

/** Without their texts, those of a status or all, newest first. */
export const playbookIndex = (status: Playbook['status'] | undefined, within: Within = {}) =>
  many<Playbook & { has_active: boolean }>(
    times,
    (
      sql,
    ) => sql`select ${columns(sql)}, exists (select from playbook_version v where v.playbook_id = p.id and v.state = 'active') as has_active
      from playbook p where true ${status ? sql`and p.status = ${status}` : sql``} ${shown(sql, within)} order by p.id desc limit ${MOST_ACTIVE}`,
  )

export const playbookPart = (id: string) =>
  one<WithContent>(times, (sql) => sql`select ${activeColumns(sql)} from ${activeTexts(sql)} where p.id = ${id}`)

export const playbookBySlug = (slug: string, within: Within = {}) =>
  one<WithContent>(times, (sql) => sql`select ${activeColumns(sql)} from ${activeTexts(sql)} where p.slug = ${slug} ${shown(sql, within)}`)

/** The slugs that the agent can name. */
export const activeSlugs = (within: Within = {}) =>
  many<{ slug: string }>(
    {},
    (sql) => sql`select p.slug from playbook p where p.status = 'active' ${shown(sql, within)} order by p.slug limit ${MOST_ACTIVE}`,
  )

export const isSlugTaken = (slug: string) =>
  sure(one<{ taken: boolean }>({}, (sql) => sql`select exists (select from playbook where slug = ${slug}) as taken`))

/** Of the others than this one. */
export const playbookCounts = (id: string | null) =>
  sure(
    one<PlaybookCounts>(
      {},
      (sql) => sql`select count(*)::int as all, (count(*) filter (where status = 'active'))::int as active,
          (count(*) filter (where status = 'active' and pinned))::int as pinned
        from (select status, pinned from playbook where id is distinct from ${id}::uuid limit ${MOST_PLAYBOOKS}) others`,
    ),
  )

export const insertPlaybook =
  (playbook: Playbook): Query =>
  (sql) =>
    sql`insert into playbook ${sql({ ...playbook })}`

export const savePlaybook =
  ({ id, name, description, pinned, status, updated_at }: Playbook): Query =>
  (sql) =>
    sql`update playbook set ${assignments(sql, { name, description, pinned, status, updated_at })} where id = ${id}`

/** Newest first. */
export const versionsOf = (playbookId: string) =>
  many<PlaybookVersion>(
    versionTimes,
    (sql) => sql`select ${versionColumns(sql)} from playbook_version v where v.playbook_id = ${playbookId}
      order by v.number desc limit ${MOST_VERSIONS}`,
  )

export const versionPart = (playbookId: string, id: string) =>
  one<PlaybookVersion>(
    versionTimes,
    (sql) => sql`select ${versionColumns(sql)} from playbook_version v where v.playbook_id = ${playbookId} and v.id = ${id}`,
  )

export const activeVersion = (playbookId: string) =>
  one<PlaybookVersion>(
    versionTimes,
    (sql) => sql`select ${versionColumns(sql)} from playbook_version v where v.playbook_id = ${playbookId} and v.state = 'active'`,
  )

export const versionRoom = (playbookId: string) =>
  sure(
    one<VersionRoom>(
      {},
      (sql) => sql`select count(*)::int as count, coalesce(max(number), 0)::int as newest,
          (array_agg(id order by number) filter (where state in ('rejected', 'retired')))[1] as oldest
        from playbook_version where playbook_id = ${playbookId}`,
    ),
  )

export const insertVersion =
  (version: PlaybookVersion): Query =>
  (sql) =>
    sql`insert into playbook_version ${sql({
      ...version,
      spaced: spacedOf(version.content),
      author: sql.json(version.author),
      decided_by: version.decided_by && sql.json(version.decided_by),
    })}`

export const saveVersion =
  ({ id, state, untrusted, decided_by, decided_at, updated_at }: PlaybookVersion): Query =>
  (sql) => {
    const fields = { state, untrusted, decided_by: decided_by && sql.json(decided_by), decided_at, updated_at }
    return sql`update playbook_version set ${assignments(sql, fields)} where id = ${id}`
  }

const deleteVersion =
  (id: string): Query =>
  (sql) =>
    sql`delete from playbook_version where id = ${id}`

/** `removed`: the version that makes room for it. */
export const insertDraft = ({ version, removed }: { version: PlaybookVersion; removed: string | null }): Query[] => [
  insertVersion(version),
  ...(removed === null ? [] : [deleteVersion(removed)]),
]

/** The playbooks of the prompt, newest first. */
export const pinnedPlaybooks = many<Pick<WithContent, 'slug' | 'name' | 'content' | 'version'>>(
  {},
  (sql) => sql`select p.slug, p.name, v.content, v.number as version from ${activeTexts(sql)}
    where p.pinned and p.status = 'active' order by p.id desc limit ${MOST_PINNED}`,
)

/** How many bytes their texts have. */
export const pinnedBytes = sure(
  one<{ bytes: number }>(
    {},
    (sql) =>
      sql`select coalesce(sum(octet_length(v.content)), 0)::int as bytes from ${activeTexts(sql)} where p.pinned and p.status = 'active'`,
  ),
)
