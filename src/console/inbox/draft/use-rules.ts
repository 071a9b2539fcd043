/** The rules that an item's text follows: its account's limits and its channel's form. */
import { useRead } from '../../api/queries.ts'
import { useConnections } from '../accounts.ts'
import type { TextRules } from './checks.ts'
import type { DraftItem } from './item.ts'

/** Undefined until they are known. */
export const useRules = (
  item: Pick<DraftItem, 'kind' | 'posting_account'> | undefined,
): TextRules | undefined => {
  const { data: accounts } = useConnections()
  const { data: ours } = useRead('growth.connection.get', {})
  const { data: forms } = useRead('growth.channels.list', {})
  if (!item || !ours || !forms) return undefined
  const network = item.posting_account?.network
  const limits = accounts?.networks.find((one) => one.network === network)?.limits
  const channel = forms.channels.find(({ name }) => name === `${item.kind}s`)
  return { kind: item.kind, limits: limits ?? ours.connection.limits, rules: channel?.format_rules }
}
