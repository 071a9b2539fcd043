import type { products } from '#contract/growth/products'
import { newProduct, type Product, updateProduct } from '#domain/growth/drafting/product'
import { newId } from '#kernel/ids'
import { insertProduct, listProducts, lockProduct, otherProducts, saveProduct } from '#store/growth/products'
import type { Handlers } from '../call.ts'
import { pageOf, pageResult } from '../paging.ts'

export const productHandlers: Handlers<typeof products> = {
  async list({ status, ...input }, { read }) {
    const page = pageOf(input)
    const { rows, next_cursor } = pageResult(await read<Product>(listProducts({ ...page, status })), page.limit)
    return { products: rows, next_cursor }
  },

  async create({ name, one_liner, url = null }, { sql, gate }) {
    const id = newId()
    const product = newProduct(id, { name, one_liner, url, others: await otherProducts(sql, { id, name }), now: gate.now })
    return { reply: { product }, effects: { writes: [insertProduct(product)] }, refId: id }
  },

  async update({ id, ...patch }, { sql, gate }) {
    const before = await lockProduct(sql, id)
    const others = await otherProducts(sql, { id, name: patch.name ?? before.name })
    const product = updateProduct(before, patch, { others, now: gate.now })
    return { reply: { product }, effects: { writes: [saveProduct(product)] } }
  },
}
