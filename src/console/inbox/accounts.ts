/** The accounts that posts can go out from. */
import { useRead } from '../api/queries.ts'

/** More than any workspace has. */
const EVERY_ACCOUNT = { limit: 100 }

export const useConnections = () => useRead('growth.connections.list', EVERY_ACCOUNT)

const NONE: readonly { id: string; handle: string; network: string }[] = []

export const useAccounts = () => useConnections().data?.connections ?? NONE

/** Where there is one account only, nothing names it. */
export const useHasSeveralAccounts = (): boolean => useAccounts().length > 1
