/** Backups that the server makes by itself. */
import { AppError } from '#kernel/errors'
import { refuseValue } from './values.ts'

export interface BackupSettings {
  /** Where they are kept. */
  folder: string
  everyMs: number
  /** How many are kept. */
  keep: number
  /** Its first line encrypts them. */
  passphraseFile: string | undefined
}

const MINUTE_MS = 60_000
const UNITS: Record<string, number> = { m: MINUTE_MS, h: 60 * MINUTE_MS, d: 1_440 * MINUTE_MS }
const [LEAST_MS, MOST_MS] = [MINUTE_MS, 366 * 1_440 * MINUTE_MS]
const MOST_KEPT = 10_000

const periodOf = (name: string, text: string): number => {
  const [, number, unit = ''] = /^(\d{1,6})([mhd])$/.exec(text) ?? []
  const ms = Number(number) * (UNITS[unit] ?? Number.NaN)
  return ms >= LEAST_MS && ms <= MOST_MS
    ? ms
    : refuseValue(
        name,
        'a number of minutes, hours or days, up to a year, such as 90m, 24h or 7d',
        text,
      )
}

const countOf = (name: string, text: string): number =>
  /^\d{1,5}$/.test(text) && Number(text) >= 1 && Number(text) <= MOST_KEPT
    ? Number(text)
    : refuseValue(name, `a number from 1 to ${MOST_KEPT}`, text)

const OTHERS = ['BACKUP_EVERY', 'BACKUP_KEEP', 'BACKUP_PASSPHRASE_FILE'] as const

/** Undefined if the server makes none. */
export const backupsOf = (env: Record<string, string | undefined>): BackupSettings | undefined => {
  const lone = OTHERS.find((name) => env[name])
  if (!env.BACKUP_DIR && lone)
    throw new AppError(
      'invalid_input',
      `${lone} is set, but BACKUP_DIR is not: the server makes backups if that names a folder`,
    )
  if (!env.BACKUP_DIR) return undefined
  return {
    folder: env.BACKUP_DIR,
    everyMs: periodOf('BACKUP_EVERY', env.BACKUP_EVERY || '24h'),
    keep: countOf('BACKUP_KEEP', env.BACKUP_KEEP || '7'),
    passphraseFile: env.BACKUP_PASSPHRASE_FILE || undefined,
  }
}
