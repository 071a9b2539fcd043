/**
 * Reads again what has changed. A read that is under way is not given up for the next change, or
 * changes in quick succession would let none arrive: it ends, and is repeated.
 */
import type { Query, QueryClient, QueryKey } from '@tanstack/react-query'

export type ReadAgain = (concerned: (key: QueryKey) => boolean) => void

export const createRereads = (client: QueryClient): ReadAgain => {
  const underWay = new Set<string>()
  const again = new Set<string>()
  const reread = async ({ queryHash, queryKey }: Query): Promise<void> => {
    again.add(queryHash)
    if (underWay.has(queryHash)) return
    underWay.add(queryHash)
    while (again.delete(queryHash))
      await client.refetchQueries({ queryKey, exact: true, type: 'active' })
    underWay.delete(queryHash)
  }
  return (concerned) => {
    for (const query of client.getQueryCache().getAll()) {
      if (!concerned(query.queryKey)) continue
      query.invalidate()
      if (query.isActive()) void reread(query)
    }
  }
}
