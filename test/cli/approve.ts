/** A command that is one request, to a scripted server. */
import { cli } from '#test/support/cli/host'

export const KEY = 'ak_test'
export const ID = '018f47a0-7c1e-7a52-9d3e-1b2f6c0a4e11'

export const at = (url: string) => ({ env: { TENDRIL_API_URL: url, TENDRIL_API_KEY: KEY } })
export const MARK = '0c2cce39'
/** A command that is one request. */
export const approve = (url: string, ...more: string[]) =>
  cli(['items', 'approve', ID, '--expect-hash', MARK, ...more], at(url))
