/** The later readings of an archive, which write what is taken over and tell what is not. */
import { AppError } from '#kernel/errors'
import type { NewFile } from '#port/files/files'
import { insertImported, isRefusedRow } from '#store/app/import'
import type { Query } from '#store/engine/db'
import { isLeft, Judge, type Left, type TakenRecord, TWICE } from './judge.ts'
import { FILE_KIND } from './kind-counts.ts'
import type { Looked } from './look.ts'
import type { ArchivedRecord, ArchiveVisitor } from './read.ts'

/** Where rows and bytes go. */
export interface ImportSink {
  /** Writes them in one transaction. */
  rows(queries: readonly Query[]): Promise<unknown[][]>
  file(bytes: AsyncIterable<Uint8Array>): Promise<NewFile>
  keep(file: NewFile): Promise<void>
}

/** Told of each record once. */
export interface ImportReport {
  made(record: { kind: string; id: string; new_id: string }): void
  left(record: Left): void
}

/** How many rows and bytes of JSON one transaction writes, about. */
const MOST_ROWS = 200
const MOST_BYTES = 2 * 2 ** 20

interface Pending extends TakenRecord {
  arrived: Record<string, unknown>
}

/** Rows of one kind that wait to be written together. */
class Group {
  #rows: Pending[] = []
  #bytes = 0

  get kind(): string | undefined {
    return this.#rows[0]?.kind
  }

  get isFull(): boolean {
    return this.#rows.length >= MOST_ROWS || this.#bytes >= MOST_BYTES
  }

  add(pending: Pending): void {
    this.#rows.push(pending)
    this.#bytes += JSON.stringify(pending.arrived).length
  }

  take(): Pending[] {
    const rows = this.#rows
    this.#rows = []
    this.#bytes = 0
    return rows
  }
}

const columnsOf = (row: Record<string, unknown>, names: readonly string[]): string =>
  names.map((name) => String(row[name])).join(' ')

const refusalOf = ({ kind, id }: Pending, cause: unknown): AppError =>
  new AppError(
    'invalid_input',
    `the database refuses the ${kind} ${id} of the archive, so nothing was imported: ${(cause as Error).message}`,
    { cause },
  )

interface WritingTo {
  late: boolean
  /** The ids of stored files, by those of their artifacts. */
  files: Map<string, string>
  /** Undefined if nothing is to be written. */
  sink: ImportSink | undefined
  report: ImportReport
}

/** One reading: `late` of what names records that come after it, otherwise of all else. */
export class ImportWriting implements ArchiveVisitor {
  readonly #judge: Judge
  readonly #group = new Group()

  constructor(
    private readonly looked: Looked,
    private readonly to: WritingTo,
  ) {
    this.#judge = new Judge(looked.arrival, true)
  }

  async record(record: ArchivedRecord): Promise<void> {
    const verdict = this.#judge.judge(record)
    if (isLeft(verdict)) return this.to.late ? undefined : this.to.report.left(verdict)
    if (verdict.rule.late !== this.to.late) return
    const fault = this.#faultOfBytes(verdict)
    if (fault !== undefined) return this.to.report.left({ ...verdict, reason: fault })
    await this.#add(verdict)
  }

  async file(id: string, _: number, bytes: AsyncIterable<Uint8Array>): Promise<void> {
    const expected = this.looked.expected.get(id)
    if (this.to.late) return
    if (!expected || expected.fault !== undefined) {
      if (!expected)
        this.to.report.left({
          kind: FILE_KIND,
          id,
          reason: 'no artifact that is taken over has it',
        })
      return
    }
    if (!this.to.sink) return
    await this.flush()
    const file = await this.to.sink.file(bytes)
    await this.to.sink.keep(file)
    this.to.files.set(id, file.id)
  }

  async flush(): Promise<void> {
    const rows = this.#group.take()
    if (rows.length === 0) return
    const written = this.to.sink ? await this.#write(rows, this.to.sink) : undefined
    const { key } = rows[0]!.rule
    for (const { kind, id, arrived } of rows) {
      if (key && written && !written.has(columnsOf(arrived, key)))
        this.to.report.left({ kind, id, reason: TWICE })
      else this.to.report.made({ kind, id, new_id: String(arrived.id ?? id) })
    }
  }

  async #add(taken: TakenRecord): Promise<void> {
    const arrived = taken.rule.arrives(taken.row as never, this.looked.arrival)
    if (this.#group.kind !== undefined && this.#group.kind !== taken.kind) await this.flush()
    this.#group.add({ ...taken, arrived: this.#withFile(taken, arrived) })
    if (this.#group.isFull) await this.flush()
  }

  #faultOfBytes({ kind, id }: TakenRecord): string | undefined {
    return kind === 'artifact' ? this.looked.expected.get(id)?.fault : undefined
  }

  #withFile({ kind, id }: TakenRecord, arrived: Record<string, unknown>): Record<string, unknown> {
    return kind === 'artifact' ? { ...arrived, file_id: this.to.files.get(id) ?? null } : arrived
  }

  /** Returns the keys of rows that were not there before, where the kind has a key. */
  async #write(
    pending: readonly Pending[],
    sink: ImportSink,
  ): Promise<ReadonlySet<string> | undefined> {
    const { key, follows } = pending[0]!.rule
    const written = await this.#insert(pending, sink)
    const rows = pending.map(({ arrived }) => arrived)
    for (const queries of follows?.(rows as never) ?? [])
      if (queries.length > 0) await sink.rows(queries)
    return key && new Set(written.map((row) => columnsOf(row as Record<string, unknown>, key)))
  }

  /** Where the database refuses one of several rows, each is written by itself, to say which. */
  async #insert(pending: readonly Pending[], sink: ImportSink): Promise<unknown[]> {
    try {
      const [first = []] = await sink.rows(this.#statements(pending))
      return first
    } catch (cause) {
      if (!isRefusedRow(cause)) throw cause
      if (pending.length === 1) throw refusalOf(pending[0]!, cause)
    }
    const written: unknown[] = []
    for (const one of pending) written.push(...(await this.#insert([one], sink)))
    return written
  }

  #statements(pending: readonly Pending[]): readonly Query[] {
    const { rule } = pending[0]!
    const rows = pending.map(({ arrived }) => arrived)
    return rule.writes
      ? rows.flatMap((row) => rule.writes!(row as never, this.looked.arrival))
      : [insertImported({ table: rule.form.record.table, rows, key: rule.key })]
  }
}
