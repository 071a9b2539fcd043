/** Every read shows a workspace its own records and none of any other. */
import { beforeAll, describe, expect, test } from 'bun:test'
import { type NamedOp, pathParams, readsOnly } from '#contract/op'
import { isUuid } from '#kernel/ids'
import {
  call,
  newWorkspace,
  usualOperations as operations,
  prefixOf,
  recipes,
  type Workspace,
} from '#test/support/contract/prepare'
import { sampleOf } from '#test/support/contract/sample'
import { useApp } from '#test/support/use'

interface Filled {
  workspace: Workspace
  /** The path parameters of one record of each resource, or of what an operation reads instead. */
  records: Record<string, Record<string, string>>
}

let filled: Filled[]

const reads = operations.filter(readsOnly)

const fill = async (): Promise<Filled> => {
  const workspace = await newWorkspace(app)
  const records: Filled['records'] = {}
  for (const [prefix, { make }] of Object.entries(recipes)) records[prefix] = await make(workspace)
  for (const o of reads) {
    const make = recipes[prefixOf(o)]?.instead?.[o.id.slice(prefixOf(o).length + 1)]
    if (make) records[o.id] = await make(workspace)
  }
  return { workspace, records }
}

const app = useApp()
beforeAll(async () => {
  filled = [await fill(), await fill()]
})

/** They do not repeat the id of what is followed, or whose parts are listed. */
const unnamed = [
  'agent.jobs.events',
  'agent.conversations.events',
  'growth.items.revisions',
  'growth.engagements.revisions',
  'growth.items.comments',
  'growth.items.metrics',
]

/** What a schema cannot say about a valid input. */
const inputs: Record<string, Record<string, unknown>> = {
  'growth.calendar.get': { from: '2026-11-21T07:00:00Z', to: '2026-11-28T07:00:00Z' },
}

/** True for a list of records or one record by id; false for what a workspace has one of. */
const showsRecords = (o: NamedOp): boolean =>
  !unnamed.includes(o.id) && ('cursor' in o.input.properties || pathParams(o.path).length > 0)

describe.each(reads.map((o) => [o.id, o] as const))('%s', (_, o) => {
  test('shows nothing of another workspace', async () => {
    for (const { workspace, records } of filled) {
      const other = filled.find((one) => one.workspace !== workspace)!
      const own = records[o.id] ?? records[prefixOf(o)] ?? {}
      const { status, text } = await call(workspace, o, {
        ...sampleOf(o, 'needed'),
        ...inputs[o.id],
        ...(pathParams(o.path).length > 0 ? own : {}),
      })
      expect(status).toBe(200)
      if (showsRecords(o)) for (const id of Object.values(own)) expect(text).toContain(id)
      const foreign = [
        other.workspace.tenantId,
        ...Object.values(other.records).flatMap((record) => Object.values(record)),
      ]
      // Names of tools are the same everywhere.
      for (const trace of foreign.filter(isUuid)) expect(text).not.toContain(trace)
    }
  })
})
