import type { products } from '#contract/growth/products'
import { newProduct, updateProduct } from '#domain/growth/drafting/product'
import { found } from '#kernel/errors'
import { newId } from '#kernel/ids'
import {
  deleteProduct,
  insertProduct,
  listProducts,
  otherProducts,
  productById,
  productPart,
  saveProduct,
} from '#store/growth/products'
import type { Handlers } from '../engine/call.ts'
import { loading } from '../engine/loading.ts'
import { pageOf, pageResult } from '../engine/paging.ts'

export const productHandlers: Handlers<typeof products> = {
  async list({ status, ...input }, { read }) {
    const page = pageOf(input)
    const { rows, next_cursor } = pageResult(
      await read(listProducts({ ...page, status })),
      page.limit,
    )
    return { products: rows, next_cursor }
  },

  async get({ id }, { read }) {
    const [product] = await read(productById(id))
    return { product: found(product, 'no such product') }
  },

  create: loading(
    ({ name }) => ({ others: otherProducts({ id: null, name }) }),
    (fields, { gate }, { others }) => {
      const product = newProduct(newId(), { ...fields, others, now: gate.now })
      return {
        reply: { product },
        effects: { writes: [insertProduct(product)] },
        refId: product.id,
      }
    },
  ),

  update: loading(
    ({ id, name = null }) => ({ before: productPart(id), others: otherProducts({ id, name }) }),
    ({ id: _, ...patch }, { gate }, { before, others }) => {
      const product = updateProduct(found(before, 'no such product'), patch, {
        others,
        now: gate.now,
      })
      return { reply: { product }, effects: { writes: [saveProduct(product)] } }
    },
  ),

  remove: loading(
    ({ id }) => ({ before: productPart(id) }),
    ({ id }, _, { before }) => ({
      reply: { product: found(before, 'no such product') },
      effects: { writes: [deleteProduct(id)] },
    }),
  ),
}
