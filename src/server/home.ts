/** The folder for what this process keeps on its machine. */
import { AppError } from '#kernel/errors'
import type { Config } from '../config.ts'

/** Throws `invalid_input` if the environment names none. */
export const homeOf = ({ home }: Pick<Config, 'home'>): string => {
  if (home !== undefined) return home
  throw new AppError('invalid_input', 'TENDRIL_HOME must be set to a folder for the data of this server, since there is no HOME')
}
