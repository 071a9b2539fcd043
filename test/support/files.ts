/** Files, as the handlers of records store and read them. */
import type { FileReading, Files, NewFile } from '#port/files/files'
import { type KeptFile, keptFile } from '#store/app/files'
import type { Effects } from '#store/engine/letter'
import type { TestApp } from './app.ts'

export interface FileDesk {
  files: Files
  tenantId: string
  /** Keeps a file in a letter of the workspace, like the command that makes its record. */
  keep(file: NewFile, effects?: Effects): Promise<KeptFile>
  /** Runs a statement over the workspace's rows. */
  rows: FileReading['read']
  read(file: KeptFile, range?: FileReading['range']): Promise<Buffer>
}

const SYSTEM = { kind: 'system', id: 'test' } as const

export const fileDesk = ({ workplace }: Pick<TestApp, 'workplace'>, tenantId: string): FileDesk => {
  const { db, files, ask } = workplace.world
  const rows: FileReading['read'] = (query) => db.read({ tenantId }, query)
  return {
    files,
    tenantId,
    rows,
    async keep(file, effects = {}) {
      await ask(tenantId, {
        name: 'test.keep',
        priority: 'interactive',
        provenance: { principal: SYSTEM, surface: 'lane' },
        decide: async (sql, gate) => ({
          reply: undefined,
          effects: {
            ...effects,
            writes: [...(await file.keep(sql, gate)), ...(effects.writes ?? [])],
          },
        }),
      })
      const [kept] = await rows(keptFile(file.id))
      return kept!
    },
    async read(file, range) {
      return Buffer.concat(await Array.fromAsync(files.read(file, { tenantId, read: rows, range })))
    },
  }
}
