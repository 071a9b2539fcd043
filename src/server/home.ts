/** The folder for what this process stores on its machine. */
import type { Config } from '#config/config'
import { AppError } from '#kernel/errors'

/** Throws `invalid_input` if the environment does not name one. */
export const homeOf = ({ home }: Pick<Config, 'home'>): string => {
  if (home !== undefined) return home
  throw new AppError(
    'invalid_input',
    'set TENDRIL_HOME to a folder for the data of this server: there is no HOME to put it in',
  )
}
