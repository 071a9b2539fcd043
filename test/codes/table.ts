/** Calls every row of the document's tables of endpoints, and says which codes came. */
import { newId } from '#kernel/ids'
import documented from '../data/contract.json'
import { conversationRows, jobRows, playbookRows } from './agent-rows.ts'
import { channelRows } from './channel-rows.ts'
import { actionRows, artifactRows, documentRows, mcpRows } from './other-rows.ts'
import type { Place } from './place.ts'
import type { Calls, Row, Rows } from './row.ts'

export interface Line {
  method: string
  path: string
  /** Named in the row of the table. */
  documented: number[]
  seen: number[]
  /** What came in the place of a code that was called for. */
  wrong: string[]
}

const rows: Rows = {
  ...conversationRows,
  ...jobRows,
  ...channelRows,
  ...playbookRows,
  ...actionRows,
  ...documentRows,
  ...artifactRows,
  ...mcpRows,
}

/** Those that need no Bearer credential. */
const open = ['/health', '/webhooks/channels/{channel}', '/api/v1/artifacts/shared/{token}']

interface Documented {
  method: string
  path: string
  codes?: number[]
}

export const documentedRows: Documented[] = (documented as Documented[]).filter(
  ({ codes }) => codes !== undefined,
)

/** Every id in the path is well formed, and of nothing. */
const nowhere = (path: string, { unknown }: Row): string =>
  path.replaceAll(/\{\w+\}/g, () => unknown ?? newId())

/** What comes about alike for every row: no credential, and ids of nothing. */
const usual = (place: Place, { method, path, codes = [] }: Documented, row: Row): Calls => {
  const to = (key?: null) => () => place.send(method, nowhere(path, row), row.body, key)
  return {
    ...(open.includes(path) ? {} : { 401: to(null) }),
    // One route answers 200 to the deletion of nothing.
    ...(codes.includes(404) ? { 404: open.includes(path) ? to(null) : to() } : {}),
  }
}

const called = async (place: Place, one: Documented): Promise<Line> => {
  const { method, path, codes = [] } = one
  const line: Line = { method, path, documented: codes, seen: [], wrong: [] }
  const row = rows[`${method} ${path}`]
  if (!row) return line
  const calls: Calls = { ...usual(place, one, row), ...(await row.calls(place)) }
  for (const [code, call] of Object.entries(calls)) {
    const { status, text } = await call!()
    if (!line.seen.includes(status)) line.seen.push(status)
    if (status !== Number(code))
      line.wrong.push(`${status} in the place of ${code}: ${text.slice(0, 200)}`)
  }
  return { ...line, seen: line.seen.sort((a, b) => a - b) }
}

/** A line for each row, in the order of the document. */
export const tableOf = async (place: Place): Promise<Line[]> => {
  const lines: Line[] = []
  for (const one of documentedRows) lines.push(await called(place, one))
  return lines
}

/** What is missing or wrong; empty if every row has answered with each of its codes. */
export const faultsOf = (lines: readonly Line[]): string[] =>
  lines.flatMap(({ method, path, documented: codes, seen, wrong }) => {
    const name = `${method} ${path}`
    if (seen.length === 0) return [`${name}: not called`]
    const missing = codes.filter((code) => !seen.includes(code))
    return [
      ...wrong.map((line) => `${name}: ${line}`),
      ...missing.map((code) => `${name}: ${code} did not come`),
    ]
  })

export const textOf = (lines: readonly Line[]): string =>
  [
    '| method | path | documented | seen |',
    '|---|---|---|---|',
    ...lines.map(
      ({ method, path, documented: codes, seen }) =>
        `| ${method} | ${path} | ${codes.join(', ')} | ${seen.join(', ')} |`,
    ),
  ].join('\n')
