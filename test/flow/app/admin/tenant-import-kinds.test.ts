/** A record of each kind that `tendril admin tenant import` takes over, through the database. */
import { expect, test } from 'bun:test'
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { exportKinds } from '#contract/app/workspace'
import { artifactRecord } from '#contract/records/agent/artifact'
import { documentRecord } from '#contract/records/agent/document'
import { memoryRecord } from '#contract/records/agent/memory'
import { playbookRecord, versionRecord } from '#contract/records/agent/playbook'
import { scheduleRecord } from '#contract/records/agent/schedule'
import { articleRecord } from '#contract/records/growth/article'
import { batchRecord } from '#contract/records/growth/batch'
import { commentRecord } from '#contract/records/growth/comment'
import { engagementRecord } from '#contract/records/growth/engagement'
import { experimentRecord } from '#contract/records/growth/experiment'
import { growthAuditRecord } from '#contract/records/growth/growth-audit'
import { growthChannelRecord } from '#contract/records/growth/growth-channel'
import { itemRecord } from '#contract/records/growth/item'
import { learningRecord } from '#contract/records/growth/learning'
import { metricRecord } from '#contract/records/growth/metric'
import { productRecord } from '#contract/records/growth/product'
import { profileRecord, profileRevisionRecord } from '#contract/records/growth/profile'
import { reportRecord } from '#contract/records/growth/report'
import { revisionRecord } from '#contract/records/growth/revision'
import { ruleRecord } from '#contract/records/growth/rule'
import { ruleRunRecord } from '#contract/records/growth/rule-run'
import { signalRecord } from '#contract/records/growth/signal'
import { targetRecord } from '#contract/records/growth/target'
import type { Declared } from '#contract/records/record'
import { newApiKey } from '#kernel/api-key'
import { newId } from '#kernel/ids'
import { importKinds } from '#server/import/kinds'
import { type ArchiveLine, exportedRow, recordsOf, writeArchive } from '#test/support/archives'
import { freshDb, TEST_SECRET } from '#test/support/database/db'
import { sampleOf } from '#test/support/database/sample'
import { temporaryFolder } from '#test/support/folder'
import { runAdmin } from '#test/support/processes/server'
import { jsonLines } from '#test/support/texts/lines'
import { use } from '#test/support/use'

const db = use(freshDb)
const folder = use(temporaryFolder)
const to = (name: string): string => join(folder.path, name)
const run = (...args: string[]) =>
  runAdmin(
    { key: newApiKey(), database: db.options, secret: TEST_SECRET.toString('base64') },
    ...['tenant', ...args],
  )

const sha256 = (bytes: string): string => createHash('sha256').update(bytes).digest('hex')
const TEXT = '# Docks\n'
const person = { kind: 'person', id: newId() }
const [item, batch, experiment, audit, rule, target, engagement, playbook, artifact] = Array.from(
  { length: 9 },
  newId,
)
const posted = { status: 'posted', external_id: 'p1', posted_at: new Date(), url: null }
const trigger = { kind: 'cron', pattern: '0 9 * * 1', time_zone: 'UTC' }
const counts = { impressions: 70, likes: 7, replies: 0, reposts: 0, quotes: 0, clicks: null }

const samples: Record<string, [Declared, object]> = {
  profile: [profileRecord, { data: { goal: 'Demos', language: 'de' }, changed: [] }],
  profile_revision: [profileRevisionRecord, { data: {}, changed: [] }],
  channel: [growthChannelRecord, { name: 'posts' }],
  learning: [learningRecord, { audit_id: audit, evidence: [item] }],
  metric: [metricRecord, { item_id: item, ...counts }],
  product: [productRecord, {}],
  experiment: [experimentRecord, { id: experiment, arms: [{ name: 'a', note: null }] }],
  batch: [batchRecord, { id: batch, experiment_id: experiment, rule_id: rule }],
  article: [articleRecord, { item_id: item, rule_id: rule }],
  growth_audit: [growthAuditRecord, { id: audit }],
  report: [reportRecord, {}],
  item: [
    itemRecord,
    {
      ...posted,
      id: item,
      batch_id: batch,
      experiment_id: experiment,
      arm: 'a',
      stories: [],
      tags: ['docks'],
      source_kind: 'batch',
      source_id: batch,
    },
  ],
  revision: [revisionRecord, { record_id: engagement, body: 'first', written_by: person }],
  comment: [commentRecord, { item_id: item, written_by: person }],
  rule: [ruleRecord, { id: rule, trigger, action: { kind: 'draft_batch', count: 1 } }],
  rule_run: [ruleRunRecord, { rule_id: rule, made_kind: 'batch', made_id: batch, trigger: 'cron' }],
  engagement: [engagementRecord, { id: engagement, status: 'approved', body: 'text' }],
  target: [targetRecord, { id: target, handle: 'dockside' }],
  signal: [signalRecord, { target_id: target, engagement_id: engagement }],
  schedule: [
    scheduleRecord,
    {
      pattern: '0 9 * * 1',
      time_zone: 'UTC',
      on_behalf: { ...person, kind: 'key', personId: null },
    },
  ],
  memory: [memoryRecord, { scope: 'workspace' }],
  playbook: [playbookRecord, { id: playbook, slug: 'docks' }],
  playbook_version: [
    versionRecord,
    { playbook_id: playbook, state: 'active', author: { ...person, kind: 'session' } },
  ],
  document: [
    documentRecord,
    {
      content: TEXT,
      sha256: sha256(TEXT),
      author: { ...person, kind: 'session', personId: null },
    },
  ],
  artifact: [
    artifactRecord,
    {
      id: artifact,
      mime_type: 'text/markdown',
      byte_size: TEXT.length,
      sha256: sha256(TEXT),
    },
  ],
}

test('a record of each kind arrives, and names the others by their new ids', async () => {
  const records: ArchiveLine[] = exportKinds.flatMap((kind) => {
    const [record, changes] = samples[kind] ?? []
    if (!record || !changes) return []
    const blank = record.blank
    return [
      { kind, record: exportedRow(record, { ...blank, ...sampleOf(record, 'text', changes) }) },
    ]
  })
  await writeArchive(to('kinds'), { records, files: { [artifact!]: Buffer.from(TEXT) } })
  const made = await run('import', to('kinds'), '--report', to('report'))
  expect(made).toMatchObject({ code: 0, err: '' })
  const taken = Object.entries(importKinds).flatMap(([kind, to]) => ('leaves' in to ? [] : [kind]))
  expect(Object.keys(samples).toSorted()).toEqual(taken.toSorted())
  const told = jsonLines(readFileSync(to('report'), 'utf8'))
  expect(told.filter(({ left_out }) => left_out !== undefined)).toEqual([])
  expect(Object.keys(made.json.made).toSorted()).toEqual(taken.toSorted())
  const { workspace_id } = made.json
  expect((await run('export', to('after'), '--workspace', workspace_id)).code).toBe(0)
  const after = new Map(recordsOf(to('after')).map(({ kind, record }) => [kind, record]))
  const idOf = (kind: string) => after.get(kind)?.id
  expect(after.get('item')).toMatchObject({ batch_id: idOf('batch'), source_id: idOf('batch') })
  expect(after.get('article')).toMatchObject({ item_id: idOf('item'), rule_id: idOf('rule') })
  expect(after.get('learning')).toMatchObject({
    audit_id: idOf('growth_audit'),
    evidence: [idOf('item')],
  })
  expect(after.get('metric')).toMatchObject({
    item_id: idOf('item'),
    impressions: 70,
    clicks: null,
  })
  expect(after.get('signal')).toMatchObject({
    target_id: idOf('target'),
    engagement_id: idOf('engagement'),
  })
  expect(after.get('rule_run')).toMatchObject({ rule_id: idOf('rule'), made_id: idOf('batch') })
  expect(after.get('revision')).toMatchObject({ record_id: idOf('engagement') })
  expect(after.get('engagement')).toMatchObject({ status: 'drafted', decision: null })
  expect(after.get('playbook_version')).toMatchObject({ playbook_id: idOf('playbook') })
  const all = JSON.stringify([...after.values()])
  for (const id of [item, batch, experiment, audit, rule, target, engagement, playbook, artifact])
    expect(all).not.toContain(id!)
  expect(all).not.toContain(person.id)
})
