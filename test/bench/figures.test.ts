import { describe, expect, test } from 'bun:test'
import { compare, comparisonText } from './compare.ts'
import { type FiguresFile, figuresText, merged, type Row, type Section } from './figures.ts'
import { withTable } from './readme.ts'
import { fileText, tableOf } from './table.ts'

const row = (part: Partial<Row> = {}): Row => ({
  what: 'a read',
  figures: { perSecond: 6_812.4, p99Ms: 13, serverUs: 119.2, postgresUs: 68.4 },
  peers: [
    {
      name: 'bare Elysia',
      figures: { perSecond: 15_198, serverUs: 51, postgresUs: 31 },
      ratio: 0.448,
      costRatio: 0.437,
    },
    { name: 'bare Hono', figures: { perSecond: 15_172 }, ratio: 0.45, costRatio: 0.44 },
  ],
  goals: [{ of: 'costRatio', atLeast: 0.6 }],
  ...part,
})
const section = (...rows: Row[]): Section => ({
  commit: 'abc1234',
  date: '2026-01-02',
  machine: '2 × a processor',
  rows,
})

describe('the table', () => {
  const cells = (one: Row): string[] =>
    tableOf([one])
      .at(-1)!
      .split('|')
      .map((cell) => cell.trim())
      .slice(1, -1)

  test('gives rates, times, processor times and both ratios to the first peer', () => {
    expect(cells(row())).toEqual([
      'a read',
      '6,812/s, p99 13 ms, 119 + 68.4 µs',
      'bare Elysia 15,198/s, 51 + 31 µs; bare Hono 15,172/s (0.45; 0.44)',
      '0.45',
      '0.44',
      '≥ 0.6 by processor time, **missed**',
    ])
  })

  test('says nothing of a goal that is met but the goal', () => {
    expect(cells(row({ goals: [{ of: 'p99Ms', atMost: 15_000 }] }))[5]).toBe('≤ p99 15 s')
  })

  test('holds a goal as missed when an upper bound is exceeded', () => {
    expect(
      cells(row({ figures: { slowdown: 2.8 }, goals: [{ of: 'slowdown', atMost: 2 }] }))[5],
    ).toBe('≤ × 2.00, **missed**')
  })

  test('holds a goal with an alternative as missed only when both are', () => {
    const goals: Row['goals'] = [{ of: 'slowdown', atMost: 2, or: { of: 'p99Ms', atMost: 2_000 } }]
    expect(cells(row({ figures: { slowdown: 9, p99Ms: 1_900 }, goals }))[5]).toBe(
      '≤ × 2.00 or ≤ p99 2,000 ms',
    )
    expect(cells(row({ figures: { slowdown: 9, p99Ms: 2_100 }, goals }))[5]).toBe(
      '≤ × 2.00 or ≤ p99 2,000 ms, **missed**',
    )
  })

  test('leaves out a processor time that the system does not count', () => {
    const uncounted = row({
      figures: { perSecond: 10, serverUs: Number.NaN, postgresUs: Number.NaN },
      peers: [],
      goals: [],
    })
    expect(cells(uncounted)).toEqual(['a read', '10/s', '', '', '', ''])
  })

  test('says where figures come from once, until a section comes from elsewhere', () => {
    const text = fileText({
      throughput: section(row()),
      mcp: section(),
      due: { ...section(), commit: 'def5678' },
    })
    expect(text).toContain('### throughput\nMeasured at abc1234, 2026-01-02: 2 × a processor.\n')
    expect(text).toContain('### mcp\n|')
    expect(text).toContain('### due\nMeasured at def5678')
  })

  test('goes between the markers of a page, and again in place of itself', () => {
    const page =
      'before\n<!-- figures: written by npm run generate -->\nold\n<!-- end of figures -->\nafter\n'
    const once = withTable(page, '| new |')
    expect(once).toBe(page.replace('old', '| new |'))
    expect(withTable(once, '| new |')).toBe(once)
    expect(() => withTable('no markers', '')).toThrow('markers')
  })
})

describe('the file', () => {
  test('reads back as what was measured, to four digits', () => {
    const read = JSON.parse(figuresText({ throughput: section(row()) })) as FiguresFile
    const [{ figures, peers }] = read.throughput!.rows as [Row]
    expect(figures).toEqual({ perSecond: 6_812, p99Ms: 13, serverUs: 119.2, postgresUs: 68.4 })
    expect(peers?.[0]?.costRatio).toBe(0.437)
    expect(read.throughput).toMatchObject({
      commit: 'abc1234',
      date: '2026-01-02',
      machine: '2 × a processor',
    })
  })

  test('has one row a line', () => {
    const lines = figuresText({ throughput: section(row(), row({ what: 'another' })) }).split('\n')
    expect(lines.filter((line) => line.includes('"what"'))).toHaveLength(2)
  })

  test('keeps the sections that were not measured, with their commit', () => {
    const before = { throughput: section(row()), due: section() }
    const after = merged(before, { due: { ...section(), commit: 'def5678' } }, [
      'due',
      'throughput',
    ])
    expect(Object.keys(after)).toEqual(['due', 'throughput'])
    expect(after.due?.commit).toBe('def5678')
    expect(after.throughput?.commit).toBe('abc1234')
  })
})

describe('a comparison', () => {
  const between = (before: Row, after: Row) =>
    compare({ throughput: section(before) }, { throughput: section(after) })

  test('finds nothing in equal files', () => {
    expect(between(row(), row())).toEqual({ better: [], worse: [], unmatched: [] })
  })

  test('finds nothing in changes up to 10 %, nor in rates and times elapsed', () => {
    const after = row({ figures: { perSecond: 1, p99Ms: 900, serverUs: 131, postgresUs: 62 } })
    expect(between(row(), after)).toEqual({ better: [], worse: [], unmatched: [] })
  })

  test('tells a processor time that fell from one that rose', () => {
    const { better, worse } = between(row(), row({ figures: { serverUs: 60, postgresUs: 80 } }))
    expect(better).toEqual([
      { section: 'throughput', what: 'a read', of: 'serverUs', before: 119.2, after: 60, peers: 0 },
    ])
    expect(worse).toEqual([
      {
        section: 'throughput',
        what: 'a read',
        of: 'postgresUs',
        before: 68.4,
        after: 80,
        peers: 0,
      },
    ])
  })

  test("gives the peer's change of the same figure, as the machine may be what changed", () => {
    const peers = [
      { name: 'bare Elysia', figures: { serverUs: 102 }, ratio: 0.448, costRatio: 0.437 },
    ]
    const [change] = between(
      row(),
      row({ figures: { serverUs: 238.4, postgresUs: 68.4 }, peers }),
    ).worse
    expect(change).toMatchObject({ of: 'serverUs', peers: 1 })
  })

  test('takes a higher ratio for better', () => {
    const after = row({ peers: [{ name: 'bare Elysia', figures: {}, ratio: 0.7, costRatio: 0.3 }] })
    const { better, worse } = between(row(), after)
    expect(better.map(({ of }) => of)).toEqual(['ratio'])
    expect(worse.map(({ of }) => of)).toEqual(['costRatio'])
  })

  test('compares the figure that a goal is about', () => {
    const late = (p99Ms: number) =>
      row({ figures: { p99Ms }, peers: [], goals: [{ of: 'p99Ms', atMost: 15_000 }] })
    expect(between(late(36_000), late(12_000)).better.map(({ of }) => of)).toEqual(['p99Ms'])
  })

  test('names rows of either file alone, and skips sections that were not measured', () => {
    const before = { throughput: section(row({ what: 'gone' })), due: section(row()) }
    const { unmatched } = compare(before, { throughput: section(row({ what: 'new' })) })
    expect(unmatched).toEqual(['throughput: new', 'throughput: gone'])
  })

  test('is printed with worse first, each with both values and the share', () => {
    const text = comparisonText(between(row(), row({ figures: { serverUs: 60, postgresUs: 80 } })))
    expect(text.split('\n')).toEqual([
      'Worse by more than 10 %:',
      "  throughput: a read: µs in Postgres 68.4 → 80.0 (+17 %; the peer's 0 %)",
      'Better by more than 10 %:',
      "  throughput: a read: µs in the server 119 → 60.0 (-50 %; the peer's 0 %)",
    ])
  })
})
